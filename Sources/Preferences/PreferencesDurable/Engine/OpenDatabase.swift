internal import Glibc
internal import PreferencesCore
internal import PrephirencesSystem

/// An open file of preferences; used under the engine's lock.
final class OpenDatabase {
  let connection: SQLiteConnection
  let counter: GenerationCounter
  let identity: FileIdentity
  let isOnNetwork: Bool

  /// The log and its index that the connection uses; `nil` if unknown.
  var logFiles: Set<FileIdentity>?

  /// The number of frames at which a writer checkpoints.
  var checkpointThreshold = OpenDatabase.leastCheckpointThreshold

  static let leastCheckpointThreshold = 1000

  /// The size of a page in the log, with its header.
  static let frameSize = 4120

  /// With less free space in the file system, each change is copied at once.
  static let leastFreeRoom = 64 << 10

  /// Whether this process has made changes that may only be in the log.
  var hasUncopiedChanges = false

  /// The last generation that this connection has synced.
  var syncedGeneration: Int64 = 0

  /// The random bytes of the batch of a shared file whose number this connection has synced.
  var syncedBatch: [UInt8] = []

  /// Whether the property list of `UserDefaults` was imported when the state was last read.
  private(set) var isImported = false

  /// Whether the checked tables are those of a shared file.
  var isShared: Bool

  init(
    _ connection: SQLiteConnection, _ counter: GenerationCounter, _ identity: FileIdentity,
    isOnNetwork: Bool, isShared: Bool = false
  ) {
    self.connection = connection
    self.counter = counter
    self.identity = identity
    self.isOnNetwork = isOnNetwork
    self.isShared = isShared
  }

  /// Closes the files, even if they were removed or replaced.
  ///
  /// If only the database was replaced, however, the new one uses the index of the log, too, and
  /// closing it would drop this process's locks on it. Then the connection is leaked, as it is if
  /// other code of this process has closed its descriptors.
  func close(_ file: SuiteFile) {
    guard counter.isOpen else { return }
    if (try? file.inspect())??.identity != identity {
      guard let logFiles, let present = try? file.logFiles(), logFiles.isDisjoint(with: present)
      else { return }
    }
    connection.close()
  }

  /// The numbers of the file.
  struct State {
    var generation: Int64 = 0

    /// Removals up to this generation are no longer recorded.
    var floor: Int64 = 0
    var isImported = false

    /// The generation in which the file was last shared or its settings changed; 0 if it is not
    /// shared.
    var sharing: Int64 = 0
  }

  /// The possible generations: twice as much fits into the counter.
  private static let generations = 1..<(Int64.max >> 1)

  /// Reads the numbers at the beginning of a transaction.
  ///
  /// Fails with ``PreferencesError/Code/rolledBack`` if committed changes are missing.
  func latestState() throws -> State {
    // Read before the transaction, which may lack a later change.
    let least = isOnNetwork ? nil : counter.record?.least
    let state = try state()
    if let least, state.generation < least {
      throw PreferencesError.rolledBack(to: state.generation, from: least, connection.path)
    }
    return state
  }

  func state() throws -> State {
    var state: State?
    try connection.run("SELECT generation, floor, imported, sharing FROM state") { row in
      guard let generation = row.integer(0), let floor = row.integer(1),
        let imported = row.integer(2), let sharing = row.integer(3), sharing >= 0,
        Self.generations.contains(generation)
      else { return }
      state = State(
        generation: generation, floor: floor, isImported: imported != 0, sharing: sharing)
    }
    guard let state else { throw damage }
    isImported = state.isImported
    if (state.sharing > 0) != isShared { try checkSharing(state) }
    return state
  }

  /// Checks the tables that another process has created or removed.
  private func checkSharing(_ state: State) throws {
    let finding =
      connection.isInTransaction
      ? try PreferenceSchema.inspect(connection) : try PreferenceSchema.check(connection)
    guard case .ready(let found) = finding, found == (state.sharing > 0) else { throw damage }
    isShared = found
  }

  private var damage: PreferencesError {
    PreferencesError(
      .damaged, "the preferences are damaged; move the file away: \(connection.path)")
  }

  /// Returns the stored value of a key, or `nil`.
  func stored(_ key: KeyBytes) throws -> PreferenceValue.Encoded? {
    try connection.first("SELECT kind, value FROM preference WHERE key = ?", .bytes(key.bytes)) {
      Self.value($0, 0)
    }
  }

  /// Whether a key has a value, or had one that was removed.
  func hasRow(_ key: KeyBytes) throws -> Bool {
    try connection.exists("SELECT 1 FROM preference WHERE key = ?", .bytes(key.bytes))
  }

  /// Returns the keys in a table that are not text in bytes.
  func damagedKeys(in table: String) throws -> [[UInt8]] {
    try connection.all("SELECT key FROM \(table)") { row in
      Self.text(row, 0) == nil ? row.bytes(0) : nil
    }
  }

  /// Calls a closure with each key, including removed ones.
  static func forEachKey(of connection: SQLiteConnection, _ body: (KeyBytes) -> Void) throws {
    try connection.run("SELECT key FROM preference") { row in
      if let key = text(row, 0) { body(KeyBytes(key)) }
    }
  }

  /// Returns the number of keys, including removed ones.
  func count() throws -> Int {
    Int(try connection.integer("SELECT count(*) FROM preference") ?? 0)
  }

  /// Calls a closure with each undamaged key that has a value.
  func forEach(_ body: (KeyBytes, PreferenceValue.Encoded) throws -> Void) throws {
    try connection.run(Self.allValues) { row in
      if let key = Self.text(row, 0), let value = Self.value(row, 1) {
        try body(KeyBytes(key), value)
      }
    }
  }

  /// Returns all readable values, and why others cannot be read.
  static func contents(of connection: SQLiteConnection) throws -> ReadablePairs {
    var contents = ReadablePairs()
    try connection.run(allValues) { row in
      guard let stored = value(row, 1) else { return }
      guard let key = text(row, 0) else {
        return contents.unreadable.append(
          (String(decoding: row.bytes(0), as: UTF8.self), damagedKey))
      }
      if let value = stored.decoded {
        contents.pairs.append((key, value))
      } else {
        contents.unreadable.append((key, .damagedValue(key)))
      }
    }
    return contents
  }

  private static let allValues = "SELECT key, kind, value FROM preference WHERE kind != 0"

  /// Returns what has changed since a generation, or `nil` if there are more changes than `limit`.
  func changes(
    since generation: Int64, limit: Int
  ) throws -> [(key: KeyBytes, value: PreferenceValue.Encoded?)]? {
    let changes = try connection.all(
      "SELECT key, kind, value FROM preference WHERE generation > ? ORDER BY generation LIMIT ?",
      .integer(generation), .integer(Int64(limit) + 1)
    ) { row in
      // No call can name a damaged key.
      Self.text(row, 0).map { (key: KeyBytes($0), value: Self.value(row, 1)) }
    }
    return changes.count > limit ? nil : changes
  }

  static func key(_ row: SQLiteStatement, _ column: CInt = 0) throws -> KeyBytes {
    guard let text = text(row, column) else { throw damagedKey }
    return KeyBytes(text)
  }

  private static func text(_ row: SQLiteStatement, _ column: CInt) -> String? {
    // No call finds a key that is text or a number for SQLite.
    row.isBytes(column) ? String(validating: row.bytes(column), as: UTF8.self) : nil
  }

  private static let damagedKey = PreferencesError(
    .damaged, "a key of the preferences is damaged; remove all of them, or restore a copy")

  /// Returns the value in a row, or `nil` if it was removed.
  static func value(_ row: SQLiteStatement, _ column: CInt) -> PreferenceValue.Encoded? {
    let number = row.integer(column).flatMap { UInt8(exactly: $0) }
    let kind = number.flatMap(PreferenceValue.Kind.init) ?? .damaged
    return kind == .removed
      ? nil : PreferenceValue.Encoded(kind: kind, bytes: row.bytes(column + 1))
  }
}

extension PreferenceValue.Encoded {
  func decoded(forKey key: KeyBytes) throws -> PreferenceValue {
    guard let value = decoded else { throw PreferencesError.damagedValue(key.text) }
    return value
  }
}
