internal import Foundation
internal import Glibc
internal import Prephirences
internal import PrephirencesFiles
internal import Synchronization

/// What all preferences of one file share in a process: the connection, the cache, the observers.
///
/// Unchecked because the compiler cannot see that the lock guards every property that changes.
final class Engine: @unchecked Sendable {
  let file: SuiteFile
  let cache = ReadCache()
  let observers = PreferenceObservers()
  let watch = EngineWatch()

  /// Guards the connection; a thread holds it during its transaction.
  private let lock = NSRecursiveLock()

  /// How often the thread with the lock has taken it.
  private var depth = 0

  /// Whether the thread with the lock has posted changes that are not delivered yet.
  private var hasPosted = false

  /// Where values are read; used under the lock.
  var source = Source.unknown

  /// Why the property list was not imported, used under the lock.
  var importFailure: PreferencesError?

  /// Whether this process has tried to import it since it opened the database.
  var hasTriedToImport = false

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

    /// A database that was removed or replaced: what is known of its values.
    case left(LoadedValues)
  }

  init(_ file: SuiteFile) {
    self.file = file
    ForkGuard.register()
  }

  /// Closes the database, which checkpoints it, if no writer can come between.
  deinit {
    guard case .database(let database) = source else { return }
    guard !ForkGuard.isForked, database.counter.isOpen, (try? database.counter.tryLock()) == true
    else {
      // The connection is leaked: closing it now could overlap with a commit.
      return
    }
    defer { database.counter.unlock() }
    if (try? file.inspect())??.identity == database.identity { database.connection.close() }
  }

  /// Runs code under the lock, and then delivers the changes that it has posted.
  ///
  /// What other threads have posted is left to them, so that a setter does not return before its
  /// change is reported.
  func locked<Result>(_ body: () throws -> Result) throws -> Result {
    try ForkGuard.check()
    guard lock.lock(before: Date(timeIntervalSinceNow: file.patience / .seconds(1))) else {
      throw PreferencesError(
        .timedOut, "another thread used the preferences for too long; try again: \(file.path)")
    }
    depth += 1
    defer {
      depth -= 1
      let delivers = depth == 0 && hasPosted
      if delivers { hasPosted = false }
      lock.unlock()
      if delivers { observers.deliverPending() }
    }
    return try body()
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

  /// The transaction of this thread.
  var ownTransaction: WriteTransaction? {
    transactionThread.load(ordering: .relaxed) == Self.currentThread ? transaction : nil
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
