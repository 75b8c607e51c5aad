internal import Glibc
internal import PreferencesCore
internal import PreferencesDurable
internal import PrephirencesSystem

/// What the shared preferences of one file have in common in a process: the worker, the observers,
/// and the closures that decide conflicts.
///
/// Destroying the last of them stops the worker.
final class SharedStore: Sendable {
  typealias ResolverNumber = Int

  let replica: SharedReplica
  let monitor: ExternalMonitor
  private let durable: DurablePreferences
  private let environment: EnvironmentVariables
  private let process = getpid()
  private let state = PosixMutex(State())

  private struct State {
    var worker: SyncWorker?
    var workerDecides = false
    var resolvers: [(number: ResolverNumber, decide: SharedPreferences.Resolver)] = []
    var lastNumber = 0
    var problem: PreferencesError?
    var isBeginning = false

    /// Whether the worker must be replaced.
    var isOutdated = false

    /// Returns whether to start a worker with closures, or `nil` if there is nothing to do.
    mutating func takeTurn() -> Bool? {
      let decides = !resolvers.isEmpty
      guard !isBeginning, worker == nil || isOutdated || (decides && !workerDecides) else {
        return nil
      }
      isBeginning = true
      isOutdated = false
      return decides
    }

    /// Returns the worker to stop.
    mutating func finishTurn(_ new: SyncWorker?, decides: Bool) -> SyncWorker? {
      isBeginning = false
      problem = nil
      guard let new else { return nil }
      defer { (worker, workerDecides) = (new, decides) }
      return worker
    }

    mutating func finishTurn(failing error: PreferencesError) {
      isBeginning = false
      problem = error
    }
  }

  init(_ durable: DurablePreferences, _ environment: EnvironmentVariables) {
    // Its failures must not appear as those of the program's preferences.
    self.durable = durable
    self.environment = environment
    replica = SharedReplica(durable)
    monitor = ExternalMonitor(replica)
  }

  deinit { end() }

  /// Why the suite is not shared, although it is configured.
  var problem: PreferencesError? { state.withLock(\.problem) }

  var worker: SyncWorker? { state.withLock(\.worker) }

  // MARK: - Conflicts

  func add(_ resolver: @escaping SharedPreferences.Resolver) -> ResolverNumber {
    state.withLock { state in
      state.lastNumber += 1
      state.resolvers.append((state.lastNumber, resolver))
      return state.lastNumber
    }
  }

  func remove(_ number: ResolverNumber) {
    state.withLock { $0.resolvers.removeAll { $0.number == number } }
  }

  private static func decide(
    _ conflict: ReplicaConflict, in store: SharedStore?
  ) throws -> ReplicaDecision {
    guard let resolver = store?.state.withLock({ $0.resolvers.first }) else {
      throw PreferencesError(.conflict, "the program that decides has ended")
    }
    return try resolver.decide(SharedPreferences.Conflict(conflict)).decision
  }

  // MARK: - Beginning and ending

  /// Starts sending and receiving, if the suite is configured and this process does not do so
  /// already.
  ///
  /// If the first closure comes later, the worker is started again, so that it decides. Nothing is
  /// done under the lock, because reading the file can call observers.
  func begin() {
    while let decides = state.withLock({ $0.takeTurn() }) {
      do throws(PreferencesError) {
        let worker = try started(decides: decides)
        let ended = state.withLock { $0.finishTurn(worker, decides: decides) }
        ended?.stop(Deadline(after: .zero))
        guard worker != nil else { return }
      } catch {
        state.withLock { $0.finishTurn(failing: error) }
        return monitor.report(error)
      }
    }
  }

  /// Returns a started worker, or `nil` if the suite is not configured.
  private func started(decides: Bool) throws(PreferencesError) -> SyncWorker? {
    let configuration = try SharingConfiguration.load(
      suiteName: durable.suiteName, environment: environment)
    guard let configuration else { return nil }
    let (client, prefix) = try configuration.cluster(
      suiteName: durable.suiteName, environment: environment)
    try share(configuration, decides: decides)
    let resolver: SyncWorker.Resolver = { [weak self] in try Self.decide($0, in: self) }
    var options = SyncOptions()
    options.place = configuration.settings.place
    options.machine = configuration.machineName
    options.didLoseFile = { [weak self] in self?.follow() }
    options.didReport = { [weak monitor] report, unrecorded in
      if let unrecorded { monitor?.report(PreferencesError(report) ?? unrecorded) }
      monitor?.look()
    }
    options.didTakeTurn = { [weak monitor] in monitor?.isSender($0) }
    let worker = SyncWorker(
      replica: replica, cluster: client, prefix: prefix, resolver: decides ? resolver : nil,
      options: options)
    // First, so that what the worker receives at once is reported, too.
    monitor.begin()
    worker.start()
    return worker
  }

  /// Starts the worker again if the suite's configuration has changed.
  ///
  /// The worker waits if the configuration is gone, or a program with another configuration has
  /// shared the file elsewhere.
  private func follow() {
    let configuration = try? SharingConfiguration.load(
      suiteName: durable.suiteName, environment: environment)
    guard let configuration else { return }
    let isOutdated = state.withLock { state in
      guard let worker = state.worker, worker.place != configuration.settings.place else {
        return false
      }
      state.isOutdated = true
      return true
    }
    if isOutdated { begin() }
  }

  /// Starts recording changes, and writes the settings, unless the file has them.
  private func share(
    _ configuration: SharingConfiguration, decides: Bool
  ) throws(PreferencesError) {
    var settings = configuration.settings
    let present = try replica.isShared() ? try replica.state().settings : nil
    // Keep it until a program sets it: another program decides.
    settings.programDecides =
      settings.programDecides || decides || (present?.programDecides ?? false)
    if present != settings { try replica.share(settings) }
  }

  /// Stops sending and receiving without waiting.
  func end() {
    let worker = state.withLock { state in
      state.problem = nil
      defer { state.worker = nil }
      return state.worker
    }
    // A forked child has none of its threads.
    guard process == getpid() else { return }
    monitor.end()
    worker?.stop(Deadline(after: .zero))
  }

  // MARK: - Observers

  func observeExternalChanges(
    _ handler: @escaping @Sendable (SharedPreferences.ExternalChange) -> Void
  ) -> PreferenceObservation {
    keeping(monitor.observeChanges(handler))
  }

  func observeFailures(
    _ handler: @escaping @Sendable (PreferencesError) -> Void
  ) -> PreferenceObservation {
    keeping(monitor.observeFailures(handler, problem: problem))
  }

  /// Keeps the file in step while an observation exists.
  func keeping(_ observation: PreferenceObservation) -> PreferenceObservation {
    PreferenceObservation { [self] in
      _ = self
      observation.cancel()
    }
  }
}

/// The stores of this process, one for each file.
final class SharedStores: Sendable {
  static let shared = SharedStores()

  /// By the bytes of the path: names that look the same can be two files.
  private let stores = WeakRegistry<[UInt8], SharedStore>()

  /// Returns the store of a file, or creates it.
  func store(of durable: DurablePreferences, _ environment: EnvironmentVariables) -> SharedStore {
    // Without a path, every call fails, and so does sharing.
    guard let path = try? durable.expectedPath() else { return SharedStore(durable, environment) }
    return stores.object(for: Array(path.utf8)) { SharedStore(durable, environment) }
  }

  /// Retries now in all stores.
  func wakeAll() { for store in stores.all { store.worker?.wake() } }
}
