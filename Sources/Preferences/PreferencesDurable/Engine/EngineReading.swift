internal import Glibc
internal import PreferencesCore
internal import PrephirencesSystem
internal import SystemPackage

extension Engine {
  /// Returns the value of a key.
  func fetch(_ text: PreferenceKey) throws -> PreferenceValue? {
    try ForkMark.preferences.check(PreferencesError.forked)
    let key = KeyBytes(text)
    if let transaction = ownTransaction { return try transaction.value(key) }
    if let known = cache.value(key) { return known.value }
    return try locked {
      try look(forWriting: false)
      switch source {
      case .database(let database):
        return try read(database) {
          let stored = try database.stored(key)
          if stored == nil, let value = try valueToImport(key, into: database) { return value }
          let value = try stored?.decoded(forKey: key)
          cache.insert(KnownValue(value), for: key, size: stored?.bytes.count ?? 0)
          return value
        }
      case .propertyList(let loaded), .snapshot(let loaded), .left(let loaded):
        return try loaded.value(key)
      case .unknown: return nil
      }
    }
  }

  /// Returns all keys with their values that can be read.
  func fetchReadable() throws -> ReadablePairs {
    try ForkMark.preferences.check(PreferencesError.forked)
    do {
      return try fetchPresent()
    } catch let error as PreferencesError where error.code == .rolledBack {
      // What is left is shown to whoever decides about it.
      var left = try locked { try closedContents(of: writableConnection()).contents }
      left.otherKeysFailure = error
      return left
    }
  }

  private func writableConnection() throws -> SQLiteConnection {
    try file.checkSidecars()
    return try SQLiteConnection(path: file.path, mode: .readWrite)
  }

  private func fetchPresent() throws -> ReadablePairs {
    try locked {
      if let transaction = ownTransaction {
        return try contents(of: transaction.database.connection)
      }
      try look(forWriting: false)
      switch source {
      case .database(let database):
        return try read(database) { try contents(of: database.connection) }
      case .propertyList(let loaded), .snapshot(let loaded), .left(let loaded):
        return loaded.contents
      case .unknown: return ReadablePairs()
      }
    }
  }

  /// Whether there is no database, and no value to remove, so that none must be created.
  func isWithout(_ keys: [KeyBytes]?) throws -> Bool {
    guard ownTransaction == nil, cache.generation == 0 else { return false }
    return try locked {
      try look(forWriting: false)
      guard case .propertyList(let loaded) = source else { return false }
      return keys.map { $0.allSatisfy { loaded.values[$0] == nil } } ?? loaded.values.isEmpty
    }
  }

  /// Reads all values into the cache, unless they are too many.
  func fetchAllIntoCache() throws {
    try locked {
      guard ownTransaction == nil else { return }
      try look(forWriting: false)
      guard case .database(let database) = source else { return }
      try read(database) {
        guard try database.count() <= ReadCache.greatestCount / 2 else { return }
        try database.forEach { key, stored in
          guard let value = stored.decoded else { return }
          cache.insert(.value(value), for: key, size: stored.bytes.count)
        }
      }
    }
  }

  /// Opens the database if there is one, and learns what others have changed.
  ///
  /// It looks at the path first: the counter of a file that was replaced does not change any more.
  func refresh() throws {
    try locked {
      guard ownTransaction == nil else { return }
      try look(forWriting: false)
      guard !cache.isCurrent, case .database(let database) = source else { return }
      try read(database) {}
    }
  }

  /// Reads within one transaction, after the cache has got what others have changed.
  func read<Result>(_ database: OpenDatabase, _ body: () throws -> Result) throws -> Result {
    try database.connection.run("BEGIN")
    defer { database.connection.rollBack() }
    let state = try database.latestState()
    try advance(to: state, database)
    let result = try body()
    try database.connection.run("COMMIT")
    correctCounter(database, state.generation)
    return result
  }

  /// Brings the cache to the database's generation, and posts what others have changed.
  func advance(to state: OpenDatabase.State, _ database: OpenDatabase) throws {
    let known = cache.generation
    guard state.generation != known else { return }
    postSignal()
    guard known <= state.generation, state.floor <= known else {
      return try renew(state, database)
    }
    let isObserved = !observers.isEmpty
    let rows = try database.changes(since: known, limit: isObserved ? .max - 1 : 10_000)
    guard let rows else { return cache.advance(to: state.generation, nil, keepsNew: false) }
    let changes = rows.map { key, stored in CachedChange(key: key, stored: stored) }
    var posted: [PreferenceChange] = []
    for changed in changes where isObserved {
      guard let known = changed.value else {
        noteDamage(of: changed.key)
        continue
      }
      posted.append(change(changed.key, from: cache.lastKnown(changed.key), to: known.value))
    }
    cache.advance(to: state.generation, changes, keepsNew: isObserved)
    post(posted)
  }

  private func noteDamage(of key: KeyBytes) {
    let failure = PreferencesError.damagedValue(key.text)
    if !damage.contains(failure) { damage.append(failure) }
  }

  private func change(
    _ key: KeyBytes, from old: KnownValue?, to new: PreferenceValue?
  ) -> PreferenceChange {
    guard let old else { return PreferenceChange(key.text, to: new?.object) }
    return PreferenceChange(key.text, from: old.value?.object, to: new?.object)
  }

  /// Forgets all values, since it is not known what has changed.
  private func renew(_ state: OpenDatabase.State, _ database: OpenDatabase) throws {
    defer { cache.advance(to: state.generation, nil, keepsNew: false) }
    guard !observers.isEmpty else { return }
    var posted: [PreferenceChange] = []
    var missing = cache.allKnown
    try database.forEach { key, stored in
      let old = missing.removeValue(forKey: key)
      guard let value = stored.decoded else {
        return noteDamage(of: key)
      }
      posted.append(change(key, from: old, to: value))
    }
    posted += missing.compactMap { key, old in
      old.value.map { PreferenceChange(key.text, from: $0.object, to: nil) }
    }
    post(posted)
  }

  /// Corrects the counter if it has not the database's generation, because a writer was killed or
  /// somebody else changed the file.
  func correctCounter(_ database: OpenDatabase, _ generation: Int64) {
    guard !database.isOnNetwork, database.counter.generation != generation,
      (try? database.counter.tryLock()) == true
    else { return }
    defer { database.counter.unlock() }
    // Read again: a writer may have committed before the lock was free.
    guard let state = try? database.state() else { return }
    try? database.counter.set(state.generation)
  }
}

extension Engine {
  /// Reads the values that `UserDefaults` has saved, unless they were read already.
  func loadPropertyList() throws {
    let stamps = [FileStamp(file.propertyListPath)]
    if case .propertyList(let loaded) = source, loaded.stamps == stamps { return }
    var loaded = LoadedValues(values: [:], stamps: stamps)
    loaded.values = try propertyListValues()
    let before = source
    source = .propertyList(loaded)
    cache.end()
    postChanges(from: before, to: loaded.values)
  }

  /// Returns the values of the property list; empty if there is none.
  private func propertyListValues() throws -> [KeyBytes: PreferenceValue] {
    guard let stat = try translated(PrivateFile.look(file.propertyListPath)) else { return [:] }
    // Others may read it, but not have written it.
    try translated(PrivateFile.check(stat, file.propertyListPath, forbidden: 0o022))
    let values = try PropertyListFile(path: file.propertyListPath).read().values
    return [KeyBytes: PreferenceValue](values.map { (KeyBytes($0), $1) }) { _, last in last }
  }

  /// Imports the values of the property list that have no value yet.
  ///
  /// If the list is damaged, the preferences can be used, and importing is tried again when they
  /// are next opened.
  func importPropertyList(into transaction: WriteTransaction) throws {
    guard !hasTriedToImport else { return transaction.importFailure = importFailure }
    hasTriedToImport = true
    let values: [KeyBytes: PreferenceValue]
    do {
      values = try valuesToImport()
      importFailure = nil
    } catch {
      importFailure = .any(error)
      return transaction.importFailure = importFailure
    }
    for (key, value) in values { try transaction.insert(value.encoded, for: key) }
    try transaction.setImported()
  }

  /// Returns the values of the property list, all of which can be stored.
  private func valuesToImport() throws -> [KeyBytes: PreferenceValue] {
    do {
      return try propertyListValues()
    } catch {
      let error = PreferencesError.any(error)
      throw PreferencesError(
        error.code,
        "the values of UserDefaults were not imported, and are tried again later: \(error.message)",
        systemCode: error.systemCode)
    }
  }

  /// Returns the value that a key without a row will have when the property list is imported; `nil` if
  /// there is none.
  func valueToImport(_ key: KeyBytes, into database: OpenDatabase) throws -> PreferenceValue? {
    guard !database.isImported, try !database.hasRow(key) else { return nil }
    return try valuesToImport()[key]
  }

  /// Returns all values of a database, with those of a property list that is not imported yet.
  func contents(of connection: SQLiteConnection) throws -> ReadablePairs {
    var contents = try OpenDatabase.contents(of: connection)
    guard try connection.integer("SELECT imported FROM state") == 0 else { return contents }
    do {
      var values = try valuesToImport()
      try OpenDatabase.forEachKey(of: connection) { values[$0] = nil }
      contents.pairs += values.map { ($0.text, $1) }
    } catch {
      contents.otherKeysFailure = .any(error)
    }
    return contents
  }

  /// Reads all values of a database that cannot be changed here, unless they were read already.
  func loadSnapshot() throws {
    let stamps = [file.path, file.logPath, file.propertyListPath].map { FileStamp($0) }
    if case .snapshot(let loaded) = source, loaded.stamps == stamps { return }
    let (contents, isShared) = try snapshotContents()
    let values = contents.pairs.map { (KeyBytes($0.key), $0.value) }
    let unreadable = contents.unreadable.map { (KeyBytes($0.key), $0.failure) }
    source = .snapshot(
      LoadedValues(
        values: Dictionary(values) { $1 }, stamps: stamps,
        unreadable: Dictionary(unreadable) { $1 }, isShared: isShared,
        otherKeysFailure: contents.otherKeysFailure))
    cache.end()
  }

  private func snapshotContents() throws -> (ReadablePairs, isShared: Bool) {
    try file.checkSidecars()
    for _ in 0..<5 {
      let stamps = [file.path, file.logPath].map { FileStamp($0) }
      let found = Result { try presentSnapshotContents() }
      // Without a lock, what was read is of one time only if nobody has changed the files.
      if [file.path, file.logPath].map({ FileStamp($0) }) == stamps { return try found.get() }
    }
    throw PreferencesError(
      .conflict, "the file changed while it was read, again and again; try again: \(file.path)")
  }

  private func presentSnapshotContents() throws -> (ReadablePairs, isShared: Bool) {
    let record = file.isOnNetwork ? nil : GenerationCounter.record(at: file.lockPath)
    let log = try translated(PrivateFile.look(file.logPath))
    var snapshot: Snapshot
    if log?.size ?? 0 == 0 {
      snapshot = try closedContents(of: SQLiteConnection(path: file.path, mode: .immutable))
    } else {
      let copy = try SnapshotCopy(of: file)
      snapshot = try closedContents(of: SQLiteConnection(path: copy.path, mode: .readWrite))
    }
    if let least = record?.least, snapshot.generation < least {
      snapshot.contents.otherKeysFailure = .rolledBack(
        to: snapshot.generation, from: least, file.path)
    }
    return (snapshot.contents, snapshot.isShared)
  }

  private struct Snapshot {
    var contents = ReadablePairs()
    var isShared = false
    var generation: Int64 = .max
  }

  /// Returns all values, and closes the connection.
  private func closedContents(of connection: SQLiteConnection) throws -> Snapshot {
    defer { connection.close() }
    try PreferenceSchema.protect(connection)
    guard case .ready(let isShared) = try checkedTables(connection) else {
      return Snapshot()
    }
    return Snapshot(
      contents: try contents(of: connection), isShared: isShared,
      generation: try connection.integer("SELECT generation FROM state") ?? .max)
  }
}

/// Values of a file that this process does not change, and what the file was like.
struct LoadedValues {
  var values: [KeyBytes: PreferenceValue]
  let stamps: [FileStamp?]
  /// Why other values cannot be read.
  var unreadable: [KeyBytes: PreferencesError] = [:]
  /// Whether the file is shared with other machines.
  var isShared = false
  /// Why nothing is known of other keys.
  var otherKeysFailure: PreferencesError?

  /// Returns the value of a key; `nil` if there is none.
  func value(_ key: KeyBytes) throws -> PreferenceValue? {
    if let otherKeysFailure, otherKeysFailure.code == .rolledBack { throw otherKeysFailure }
    if let failure = unreadable[key] { throw failure }
    if let value = values[key] { return value }
    if let otherKeysFailure { throw otherKeysFailure }
    return nil
  }

  var contents: ReadablePairs {
    var contents = ReadablePairs(
      pairs: values.map { ($0.text, $1) }, unreadable: unreadable.map { ($0.text, $1) })
    contents.otherKeysFailure = otherKeysFailure
    return contents
  }
}

/// What is known of a key.
enum KnownValue: Sendable {
  case absent
  case value(PreferenceValue)

  init(_ value: PreferenceValue?) { self = value.map { .value($0) } ?? .absent }

  var value: PreferenceValue? { if case .value(let value) = self { value } else { nil } }
}

/// What the cache learns of a key that was changed.
struct CachedChange {
  let key: KeyBytes

  /// `nil` if the value is damaged: it is not known, so that reading it reports the damage.
  let value: KnownValue?
  let size: Int

  init(key: KeyBytes, stored: PreferenceValue.Encoded?) {
    self.key = key
    value = if let stored { stored.decoded.map { .value($0) } } else { .absent }
    size = stored?.bytes.count ?? 0
  }
}

/// The values that were read, as of one generation.
///
/// A read takes one system call as long as the counter has that generation. Unchecked because the
/// lock guards everything.
final class ReadCache: @unchecked Sendable {
  private let lock = PosixMutex()
  private var values: [KeyBytes: Entry] = [:]
  private var size = 0

  private struct Entry {
    let known: KnownValue
    let size: Int
  }

  /// `nil` if each read must ask the database.
  private var counter: GenerationCounter?
  private var isCommitting = false
  private var lookedAt: Int = 0
  private var current: Int64 = 0

  /// How many values are kept; then all are forgotten.
  static let greatestCount = 200_000

  /// How many stored bytes the kept values have at most; then all are forgotten.
  static let greatestSize = 64 << 20

  /// How many stored bytes a kept value has at most.
  static let greatestValueSize = 4 << 20

  /// How long the file's path need not be looked at again, in nanoseconds.
  private static let lookInterval = 100_000_000

  /// The generation of the values; 0 if there is none.
  var generation: Int64 { lock.withLock { current } }

  /// Returns what is known of a key, if nobody has changed the preferences since.
  func value(_ key: KeyBytes) -> KnownValue? {
    lock.withLock {
      guard let counter, !isCommitting, let entry = values[key],
        Self.now - lookedAt < Self.lookInterval, counter.generation == current
      else { return nil }
      return entry.known
    }
  }

  /// Whether nobody has changed the preferences since the values were read.
  var isCurrent: Bool {
    lock.withLock {
      guard let counter, !isCommitting, Self.now - lookedAt < Self.lookInterval else {
        return false
      }
      return counter.generation == current
    }
  }

  /// Returns what was last known of a key.
  func lastKnown(_ key: KeyBytes) -> KnownValue? { lock.withLock { values[key]?.known } }

  /// Everything that was last known.
  var allKnown: [KeyBytes: KnownValue] { lock.withLock { values.mapValues(\.known) } }

  /// Begins with another database.
  func begin(_ counter: GenerationCounter?, generation: Int64) {
    lock.withLock {
      self.counter = counter
      current = generation
      forgetAll()
      isCommitting = false
      lookedAt = Self.now
    }
  }

  /// Forgets the database.
  func end() { begin(nil, generation: 0) }

  /// Records that the file was found at its path.
  func touch() { lock.withLock { lookedAt = Self.now } }

  func insert(_ value: KnownValue, for key: KeyBytes, size: Int) {
    lock.withLock { set(value, for: key, size: size) }
  }

  /// Records a later generation.
  ///
  /// `changes` is `nil` to forget all values.
  func advance(to generation: Int64, _ changes: [CachedChange]?, keepsNew: Bool) {
    lock.withLock {
      current = generation
      guard let changes, values.count + changes.count < Self.greatestCount else {
        return forgetAll()
      }
      for change in changes where keepsNew || values[change.key] != nil {
        set(change.value, for: change.key, size: change.size)
      }
    }
  }

  private func set(_ value: KnownValue?, for key: KeyBytes, size added: Int) {
    let isKept = added <= Self.greatestValueSize
    let entry = isKept ? value.map { Entry(known: $0, size: added) } : nil
    if let replaced = values[key] { size -= replaced.size }
    size += entry?.size ?? 0
    values[key] = entry
    guard size > Self.greatestSize || values.count > Self.greatestCount else { return }
    forgetAll()
    if let entry {
      values[key] = entry
      size = added
    }
  }

  private func forgetAll() {
    values = [:]
    size = 0
  }

  /// Makes reads wait for the connection, because a commit is under way.
  func beginCommit() { lock.withLock { isCommitting = true } }

  func endCommit() { lock.withLock { isCommitting = false } }

  private static var now: Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
