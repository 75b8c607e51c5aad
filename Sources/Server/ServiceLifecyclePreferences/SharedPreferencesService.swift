#if ServiceLifecycleSupport
internal import Dispatch
internal import FoundationEssentials
public import Logging
public import Metrics
internal import PreferencesCore
// With this, a program can name its preferences without another import.
@_exported public import PreferencesShared
public import ServiceLifecycle

/// A service that keeps shared preferences in step with those of other machines while it runs.
///
/// ```swift
/// let settings = SharedPreferences(suiteName: "com.example.fleet")
/// let group = ServiceGroup(
///   services: [SharedPreferencesService(settings, logger: logger), server],
///   gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// List it before the services that set preferences: a group shuts services down from the last to
/// the first, so preferences that they set at the end are sent, too.
///
/// A `SharedPreferences` object itself keeps the preferences in step, unless another process of
/// this machine does. The service holds it, begins again if the suite is shared later, and reports
/// its status. On graceful shutdown, it waits until all changes are in the shared store, but not
/// beyond a deadline. Unsent changes are then logged: they are in the file of this machine, and the
/// next program that uses the preferences sends them. The loss of the network does not end the
/// service, nor does any other failure of sharing.
///
/// It logs at the level `info` if sharing fails, works again, or is not set up, and if changes are
/// unsent at shutdown; everything else at `debug`. The log never contains values of preferences.
/// These are its metrics, each with the dimension `suite`:
///
/// | label | meaning |
/// | --- | --- |
/// | `shared_preferences_unsent_keys` | the number of keys with unsent changes |
/// | `shared_preferences_conflicts` | the number of these that wait for a decision |
/// | `shared_preferences_last_contact_age_seconds` | the time since the last recorded contact |
///
/// While everything works, the last contact was at most 150 seconds ago. It is not reported before
/// the first one.
public struct SharedPreferencesService: Service {
  /// The preferences.
  public let preferences: SharedPreferences

  /// How long graceful shutdown waits for unsent changes.
  public let flushDeadline: Duration

  /// How often metrics are reported.
  public let reportInterval: Duration

  private let logger: Logger
  private let metrics: (any MetricsFactory)?

  /// Creates a service.
  ///
  /// - Parameters:
  ///   - flushDeadline: How long graceful shutdown waits for unsent changes; it should be less than
  ///     the `maximumGracefulShutdownDuration` of the group.
  ///   - reportInterval: How often metrics are reported; at least 10 ms.
  ///   - logger: The log of failures.
  ///   - metrics: The factory of the metrics; by default, that of the program when the service
  ///     runs.
  public init(
    _ preferences: SharedPreferences, flushDeadline: Duration = .seconds(10),
    reportInterval: Duration = .seconds(15), logger: Logger,
    metrics: (any MetricsFactory)? = nil
  ) {
    self.preferences = preferences
    self.flushDeadline = flushDeadline
    self.reportInterval = reportInterval
    self.logger = logger
    self.metrics = metrics
  }

  /// Keeps the preferences in step until graceful shutdown, or until the task is cancelled.
  ///
  /// Cancelling does not wait for unsent changes.
  ///
  /// - Throws: Nothing.
  public func run() async throws {
    let gauges = Gauges(suite: preferences.suiteName, metrics ?? MetricsSystem.factory)
    await cancelWhenGracefulShutdown {
      var last = Standing.inStep
      while !Task.isCancelled {
        last = await report(to: gauges, after: last)
        try? await Task.sleep(for: max(reportInterval, .milliseconds(10)))
      }
    }
    guard !Task.isCancelled else { return }
    await flush()
    if let status = try? await status() { gauges.record(status) }
  }

  /// The status of the preferences, as far as it is logged.
  private enum Standing: Equatable {
    case inStep, notShared
    case failing(PreferencesError.Code)
  }

  /// Records the status of the preferences, and logs it if it is new.
  private func report(to gauges: Gauges, after last: Standing) async -> Standing {
    let failure: PreferencesError
    do {
      let status = try await status()
      gauges.record(status)
      guard let found = status.failure else {
        let new: Standing = status.isShared ? .inStep : .notShared
        if new != last {
          logger.info(
            new == .inStep ? "Shared preferences are in step" : "Preferences are not shared",
            metadata: metadata())
        }
        return new
      }
      failure = found
    } catch {
      failure = error
    }
    if last != .failing(failure.code) {
      logger.info("Shared preferences are not in step", metadata: metadata(failure))
    }
    return .failing(failure.code)
  }

  /// Waits for unsent changes until the deadline, or until the task is cancelled.
  private func flush() async {
    logger.debug("Waiting for unsent preferences", metadata: metadata())
    let (ends, end) = AsyncStream<Result<Void, PreferencesError>>.makeStream()
    Task { [preferences, flushDeadline] in
      do throws(PreferencesError) {
        end.yield(.success(try await preferences.flush(deadline: flushDeadline)))
      } catch {
        end.yield(.failure(error))
      }
    }
    switch await ends.first(where: { _ in true }) {
    case .success?: logger.debug("All shared preferences are sent", metadata: metadata())
    case nil: logger.info("Unsent preferences were not waited for", metadata: metadata())
    case .failure(let failure)?:
      var metadata = metadata(failure)
      let unsent = try? await status().unsentKeys
      metadata["preferences.unsent_keys"] = "\(unsent.map(String.init) ?? "unknown")"
      logger.info("Shared preferences stay unsent in the file of this machine", metadata: metadata)
    }
  }

  private func metadata(_ failure: PreferencesError? = nil) -> Logger.Metadata {
    var metadata: Logger.Metadata = ["preferences.suite": "\(preferences.suiteName)"]
    guard let failure else { return metadata }
    metadata["error.code"] = "\(failure.code)"
    metadata["error.message"] = "\(failure.message)"
    return metadata
  }

  /// Reads the status of the preferences, on a thread that may wait for the file.
  private func status() async throws(PreferencesError) -> SharedPreferences.Status {
    let result: Result<SharedPreferences.Status, PreferencesError> =
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async { [preferences] in
          continuation.resume(
            returning: Result { () throws(PreferencesError) in try preferences.beginAndReport() })
        }
      }
    return try result.get()
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
    // The clock may have been set back.
    if let contact = status.lastContact { contactAge.record(max(0, -contact.timeIntervalSinceNow)) }
  }
}
#else
// If a program does not enable the trait, the compiler reports it where the name is used.

/// Requires the trait.
@available(
  *, unavailable,
  message: "depend on the package Prephirences with traits: [\"ServiceLifecycleSupport\"]"
)
public struct SharedPreferencesService {
  /// Requires the trait.
  public init(
    _ preferences: Any, flushDeadline: Duration? = nil, reportInterval: Duration? = nil,
    logger: Any, metrics: Any? = nil
  ) {}
}
#endif
