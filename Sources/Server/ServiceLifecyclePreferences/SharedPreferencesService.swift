#if ServiceLifecycleSupport
internal import FoundationEssentials
public import Logging
public import Metrics
internal import PreferencesCore
public import PreferencesShared
public import ServiceLifecycle

/// A service that keeps shared preferences in step with those of other machines, as long as it runs.
///
/// ```swift
/// let settings = SharedPreferences(suiteName: "com.example.fleet")
/// let group = ServiceGroup(
///   services: [SharedPreferencesService(settings, logger: logger), server],
///   gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// List it before the services that set preferences: a group shuts services down from the last to the
/// first, so what they set at the end is sent, too. While it runs, this process sends and receives, unless another one of this machine does. On graceful
/// shutdown, it waits until what was set is in the shared store, but no longer than a deadline, and then
/// logs what stays: that is in the file of this machine, and is sent by the next program that uses the
/// preferences. The loss of the network does not end it, and neither does another failure of sharing.
///
/// It logs a failure of sharing, its end, and what stays at shutdown, with the level `info`; everything else,
/// with `debug`. Neither has values of preferences. These are its metrics, each with the
/// dimension `suite`:
///
/// | label | meaning |
/// | --- | --- |
/// | `shared_preferences_unsent_keys` | how many keys have changes that are not in the shared store yet |
/// | `shared_preferences_conflicts` | how many of these changes wait for the decision of a conflict |
/// | `shared_preferences_last_contact_age_seconds` | how long ago the preferences were in step, by the clock; not reported if they never were |
public struct SharedPreferencesService: Service {
  /// The preferences.
  public let preferences: SharedPreferences

  /// How long graceful shutdown waits for what is unsent.
  public let flushDeadline: Duration

  /// How often metrics are reported.
  public let reportInterval: Duration

  private let logger: Logger
  private let metrics: any MetricsFactory

  /// Creates a service.
  ///
  /// - Parameters:
  ///   - preferences: The preferences.
  ///   - flushDeadline: How long graceful shutdown waits for what is unsent; let it be less than the
  ///     `maximumGracefulShutdownDuration` of the group.
  ///   - reportInterval: How often metrics are reported; at least 10 ms.
  ///   - logger: Where failures are logged.
  ///   - metricsFactory: What makes the metrics; by default, that of the program.
  public init(
    _ preferences: SharedPreferences, flushDeadline: Duration = .seconds(10),
    reportInterval: Duration = .seconds(15), logger: Logger,
    metricsFactory: (any MetricsFactory)? = nil
  ) {
    self.preferences = preferences
    self.flushDeadline = flushDeadline
    self.reportInterval = reportInterval
    self.logger = logger
    metrics = metricsFactory ?? MetricsSystem.factory
  }

  /// Keeps the preferences in step until graceful shutdown, or until the task is cancelled.
  ///
  /// If the task is cancelled, what is unsent is not waited for.
  ///
  /// - Throws: Nothing.
  public func run() async throws {
    let gauges = Gauges(suite: preferences.suiteName, metrics)
    await cancelWhenGracefulShutdown {
      var failure: PreferencesError?
      while !Task.isCancelled {
        report(to: gauges, after: &failure)
        try? await Task.sleep(for: max(reportInterval, .milliseconds(10)))
      }
    }
    guard !Task.isCancelled else { return }
    await flush()
    report(to: gauges)
  }

  private var metadata: Logger.Metadata { ["suite": "\(preferences.suiteName)"] }

  private func report(to gauges: Gauges) {
    guard let status = try? preferences.status() else { return }
    gauges.record(status)
  }

  /// Records how the preferences stand, and logs what differs from the last failure.
  private func report(to gauges: Gauges, after last: inout PreferencesError?) {
    var failure: PreferencesError?
    do throws(PreferencesError) {
      let status = try preferences.status()
      gauges.record(status)
      failure = status.failure
    } catch { failure = error }
    defer { last = failure }
    guard failure?.code != last?.code else { return }
    guard let failure else {
      logger.info("The shared preferences are in step again.", metadata: metadata)
      return
    }
    logger.info(
      "The shared preferences are not in step: \(failure.message)",
      metadata: metadata.merging(["error": "\(failure.code)"]) { $1 })
  }

  /// Waits for what is unsent until the deadline, or until the task is cancelled.
  private func flush() async {
    logger.debug("Waiting for what is unsent.", metadata: metadata)
    let (ends, end) = AsyncStream<Result<Void, PreferencesError>>.makeStream()
    Task { [preferences, flushDeadline] in
      do throws(PreferencesError) {
        end.yield(.success(try await preferences.flush(deadline: flushDeadline)))
      } catch {
        end.yield(.failure(error))
      }
    }
    switch await ends.first(where: { _ in true }) {
    case .success?: logger.debug("All shared preferences are sent.", metadata: metadata)
    case nil: logger.info("What is unsent was not waited for.", metadata: metadata)
    case .failure(let error)?:
      let unsent = (try? preferences.status())?.unsentKeys
      logger.info(
        "Shared preferences stay unsent in the file of this machine: \(error.message)",
        metadata: metadata.merging([
          "error": "\(error.code)", "unsentKeys": "\(unsent.map(String.init) ?? "unknown")",
        ]) { $1 })
    }
  }
}

/// The metrics of a suite.
private struct Gauges: Sendable {
  private let unsentKeys: Gauge
  private let conflicts: Gauge
  private let contactAge: Gauge

  init(suite: String, _ factory: any MetricsFactory) {
    let gauge = { (name: String) in
      Gauge(
        label: "shared_preferences_\(name)", dimensions: [("suite", suite)], factory: factory)
    }
    unsentKeys = gauge("unsent_keys")
    conflicts = gauge("conflicts")
    contactAge = gauge("last_contact_age_seconds")
  }

  func record(_ status: SharedPreferences.Status) {
    unsentKeys.record(status.unsentKeys)
    conflicts.record(status.waiting.count { $0.reason == .decision })
    if let contact = status.lastContact { contactAge.record(-contact.timeIntervalSinceNow) }
  }
}
#endif
