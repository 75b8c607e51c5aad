internal import Glibc
internal import PreferencesCore
internal import PrephirencesSystem
internal import Synchronization

/// What all preferences of one file share in a process: the connection, the cache, the observers.
///
/// Unchecked because the compiler cannot see that the lock guards every mutable property.
final class Engine: @unchecked Sendable {
  let file: SuiteFile
  let cache = ReadCache()
  let observers = PreferenceObservers()
  let watch = EngineWatch()

  /// The thread that uses the connection, for a whole transaction; 0 if there is none.
  private let owner = PosixCondition<UInt>(0)

  /// How often the owning thread has taken the lock; used under the lock.
  private var depth = 0

  /// Whether the owning thread has posted changes that are not delivered yet.
  private var hasPosted = false

  /// Where values are read; used under the lock.
  var source = Source.unknown

  /// Why the property list was not imported; used under the lock.
  var importFailure: PreferencesError?

  /// Damaged values since observers were last notified; used under the lock.
  var damage: [PreferencesError] = []

  /// Whether this process has tried the import since it opened the database.
  var hasTriedToImport = false

  /// The rules and totals of a shared file; used under the lock.
  var rules: SharingRules?
  var totals: SharedTotals?

  /// The transaction of the thread that holds the lock.
  private(set) var transaction: WriteTransaction?

  /// That thread; 0 if there is none.
  private let transactionThread = Atomic<UInt>(0)

  enum Source {
    case unknown
    case database(OpenDatabase)

    /// There is no database: the values are those of the property list.
    case propertyList(LoadedValues)

    /// The database cannot be changed here.
    case snapshot(LoadedValues)

    /// A database that was removed or replaced, with its last known values.
    case left(LoadedValues)
  }

  init(_ file: SuiteFile) {
    self.file = file
    ForkMark.preferences.set()
  }

  /// Closes the database.
  ///
  /// In a forked child, or if other code has closed the descriptors, the connection is leaked.
  deinit {
    guard case .database(let database) = source, !ForkMark.preferences.isForked,
      database.counter.isOpen
    else { return }
    _ = try? copyLog(of: database)
    database.close(file)
  }

  /// Runs code under the lock, and then delivers the changes that it has posted.
  ///
  /// Other threads deliver their own changes, so that a setter does not return before its change is
  /// reported.
  func locked<Result>(_ body: () throws -> Result) throws -> Result {
    try takeLock()
    depth += 1
    defer { release() }
    if watch.isBroken { watch.mend(self) }
    return try body()
  }

  /// Runs code under the lock, or returns `nil` if another thread holds it.
  func lockedIfFree<Result>(_ body: () throws -> Result) rethrows -> Result? {
    let thread = Self.currentThread
    let isLocked = owner.withLock { owner in
      if owner == 0 { owner = thread }
      return owner == thread
    }
    guard isLocked else { return nil }
    depth += 1
    defer { release() }
    return try body()
  }

  private func takeLock() throws {
    let thread = Self.currentThread
    func take(_ owner: inout UInt) -> Bool {
      if owner == 0 { owner = thread }
      return owner == thread
    }
    guard !owner.withLock(take) else { return }
    let isLocked = TransactionWaits.shared.perform(thread, for: self) {
      owner.wait(file.timeout, until: take)
    }
    switch isLocked {
    case true: return
    case false:
      throw PreferencesError.timedOut("another thread used the preferences for too long", file.path)
    case nil:
      throw PreferencesError.timedOut(
        "a transaction of another thread waits for that of this thread, and so cannot be waited "
          + "for",
        file.path)
    }
  }

  private func release() {
    depth -= 1
    // In a child that was forked meanwhile, another thread of the parent may hold the lock for
    // ever.
    guard depth == 0, !ForkMark.preferences.isForked else { return }
    let delivers = hasPosted
    hasPosted = false
    // All waiting threads want the same, so waking one is enough.
    owner.change(wakingAll: false) { $0 = 0 }
    if delivers { observers.deliverPending() }
  }

  /// Records that something has changed, to be reported when the lock is released.
  func postSignal() {
    hasPosted = true
    observers.signals.post()
  }

  /// Records changes, to be reported when the lock is released.
  func post(_ changes: [PreferenceChange]) {
    hasPosted = true
    observers.post(changes)
  }

  /// The thread with a transaction; 0 if there is none.
  var transactionOwner: UInt { transactionThread.load(ordering: .relaxed) }

  /// The transaction of this thread.
  var ownTransaction: WriteTransaction? {
    transactionOwner == Self.currentThread ? transaction : nil
  }

  func withTransaction<Result>(
    _ transaction: WriteTransaction, _ body: (WriteTransaction) throws -> Result
  ) throws -> Result {
    self.transaction = transaction
    transactionThread.store(Self.currentThread, ordering: .relaxed)
    defer {
      transactionThread.store(0, ordering: .relaxed)
      self.transaction = nil
    }
    return try body(transaction)
  }

  private static var currentThread: UInt { UInt(pthread_self()) }
}

/// The engines of this process, one for each file.
final class Engines: Sendable {
  static let shared = Engines()

  private struct State {
    var entries: [SuiteFile: Entry] = [:]

    /// The most recently used engines, which stay open so that short-lived preferences cost little.
    var recent: [Engine] = []
  }

  private struct Entry {
    weak var engine: Engine?
  }

  private let state = PosixMutex(State())

  private static let greatestRecentCount = 16

  func engine(of file: SuiteFile) -> Engine {
    let (engine, dropped): (Engine, Engine?) = state.withLock { state in
      var dropped: Engine?
      let engine = state.entries[file]?.engine ?? Engine(file)
      if state.recent.last !== engine {
        state.recent.removeAll { $0 === engine }
        state.recent.append(engine)
        if state.recent.count > Self.greatestRecentCount { dropped = state.recent.removeFirst() }
      }
      state.entries[file] = Entry(engine: engine)
      if state.entries.count > 64 { state.entries = state.entries.filter { $1.engine != nil } }
      return (engine, dropped)
    }
    // Closed here, outside of the lock.
    _ = dropped
    return engine
  }
}

extension Engine {
  /// Starts notifying an observer of the changes of all processes.
  func addObserver(
    _ observer: PreferenceObserver, of preferences: some PreferencesType,
    reportingTo failures: Failures
  ) throws -> PreferenceObservation {
    try watch.begin(self, reportingTo: failures)
    // Earlier changes are not reported; the present values are the old ones of the next change.
    // Reads report failures.
    try? refresh()
    try? learn(observer.keys)
    let observation = observers.add(observer, of: preferences)
    return PreferenceObservation { [self] in
      guard !ForkMark.preferences.isForked else { return }
      observation.cancel()
      watch.end(reportingTo: failures)
    }
  }

  /// Reads values into the cache.
  private func learn(_ keys: Set<PreferenceKey>?) throws {
    if let keys {
      for key in keys { _ = try fetch(key) }
    } else {
      try fetchAllIntoCache()
    }
  }
}

extension ForkMark {
  /// SQLite's locks belong to the parent.
  static let preferences = ForkMark()
}

extension PreferencesError {
  static let forked = Self(
    .forked,
    "this process was forked from one that used preferences; "
      + "use them in a process that was started by exec")
}
