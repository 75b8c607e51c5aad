internal import Glibc
internal import PreferencesCore
internal import PreferencesDurable
internal import PrephirencesSystem

/// What all shared preferences of one file have in common in a process: the worker, the closures
/// that decide conflicts, the observers.
///
/// The last of them that is destroyed ends the worker.
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

    /// Whether the worker has to be replaced.
    var isOutdated = false

    /// Whether this thread is to begin, and with closures; `nil` if there is nothing to do.
    mutating func takeTurn() -> Bool? {
      let decides = !resolvers.isEmpty
      guard !isBeginning, worker == nil || isOutdated || (decides && !workerDecides) else {
        return nil
      }
      isBeginning = true
      isOutdated = false
      return decides
    }

    /// Returns the worker that has to end.
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
    // Its failures are not those of the preferences of a program.
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

  /// Begins to send and receive, if the suite is configured and this process does not already.
  ///
  /// A process whose first closure comes later begins again, so that its worker decides. Nothing is
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

  /// Returns a worker that has begun; `nil` if the suite is not configured.
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

  /// Begins again if the suite is configured otherwise than the worker was told.
  ///
  /// If it is not configured any more, or the file is shared otherwise by whoever has another
  /// configuration, the worker waits.
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

  /// Notes changes from now on, and the settings, unless the file has them.
  private func share(
    _ configuration: SharingConfiguration, decides: Bool
  ) throws(PreferencesError) {
    var settings = configuration.settings
    let present = try replica.isShared() ? try replica.state().settings : nil
    // It stays until somebody says otherwise: another program decides.
    settings.programDecides =
      settings.programDecides || decides || (present?.programDecides ?? false)
    if present != settings { try replica.share(settings) }
  }

  /// Ends sending and receiving; waits for nothing.
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

  /// An observation keeps the file in step.
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

  /// By the bytes of the path: names that look the same are those of two files.
  private let stores = WeakRegistry<[UInt8], SharedStore>()

  /// Returns the store of a file; a new one if nobody has it.
  func store(of durable: DurablePreferences, _ environment: EnvironmentVariables) -> SharedStore {
    // Without a place, every call fails, and so does sharing.
    guard let path = try? durable.expectedPath() else { return SharedStore(durable, environment) }
    return stores.object(for: Array(path.utf8)) { SharedStore(durable, environment) }
  }

  /// Tries at once what waits, in all stores.
  func wakeAll() { for store in stores.all { store.worker?.wake() } }
}
