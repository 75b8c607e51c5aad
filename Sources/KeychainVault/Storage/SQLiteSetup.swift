internal import GRDB
internal import GRDBSQLite
internal import KeychainCredentials
internal import KeychainVaultFormat

/// Prepares a connection, and checks that the file is a vault of this format.
enum SQLiteSetup {
  /// Prepares a connection.
  ///
  /// - Returns: Whether the file has its tables.
  static func prepare(_ database: Database, limitingMemory: Bool) throws -> Bool {
    // What GRDB learns of each statement is for observers of its transactions, which a vault has none of.
    unsafe sqlite3_set_authorizer(database.sqliteConnection, nil, nil)
    if limitingMemory { try database.execute(sql: "PRAGMA hard_heap_limit = \(heapLimit)") }
    // Set before anything is read, so that SQLite allocates no memory for a value that no vault
    // has.
    unsafe sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_LENGTH, greatestRowCount)
    // A hostile file could contain triggers, views or functions; none of them may run.
    try database.execute(sql: "PRAGMA trusted_schema = OFF")
    try database.execute(sql: "PRAGMA cell_size_check = ON")
    try database.execute(sql: "PRAGMA mmap_size = 0")
    // In one transaction, because another process may fill the file between two checks.
    var hasTables = false
    try database.inTransaction(.deferred) {
      hasTables = try checkFormat(database)
      return .commit
    }
    try requireDurability(database)
    return hasTables
  }

  /// The maximum number of bytes of a row: the longest two boxes, the tokens, and some for the other columns.
  private static let greatestRowCount = CInt(
    Sealing.greatestBoxCount(limit: MetadataCoding.maximumCount)
      + Sealing.greatestBoxCount(limit: Credential.maximumSecretCount)
      + ItemRow.maximumTokensCount + 4096)

  /// The maximum memory of SQLite in a process that uses it for a vault alone.
  ///
  /// To find a row, SQLite loads other rows completely, however long they are.
  private static let heapLimit = 128 << 20

  /// Whether SQLite was refused memory because a row is longer than the format allows.
  static var metTooLongRow: Bool {
    var (current, highest): (sqlite3_int64, sqlite3_int64) = (0, 0)
    unsafe sqlite3_status64(SQLITE_STATUS_MALLOC_SIZE, &current, &highest, 0)
    return sqlite3_hard_heap_limit64(-1) > 0 && highest > 2 * sqlite3_int64(greatestRowCount)
  }

  /// Sets what makes a commit durable, and reads it back, because a pragma that has no effect
  /// reports no error.
  ///
  /// A commit syncs five times, and each one is needed:
  ///
  /// 1. the journal's pages, before its header counts them: NORMAL leaves this to a weak checksum;
  /// 2. the folder, since a journal that loses its name undoes nothing. SQLite does this whenever it
  ///    opens the journal in a mode that may create it, also if it is there;
  /// 3. the journal's header;
  /// 4. the database;
  /// 5. the end of the journal, without which a loss of power undoes what was reported as durable.
  ///
  /// PERSIST syncs as often, and leaves old pages in the journal. A write-ahead log syncs once, and
  /// is a second file at rest, without which a copy of the vault lacks the last changes.
  private static func requireDurability(_ database: Database) throws {
    // A vault never creates a write-ahead log. Switching it off would write to the file.
    guard try text(database, "PRAGMA journal_mode") != "wal" else {
      throw KeychainError(.damaged, "the file is in write-ahead mode, which no vault uses")
    }
    try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST")
    guard try text(database, "PRAGMA journal_mode = TRUNCATE") == "truncate",
      try integer(database, "PRAGMA synchronous") == 2
    else {
      throw KeychainError(
        .internalFailure, "SQLite does not offer the durability that a vault needs")
    }
  }

  /// Fails if the file is neither a vault of this format nor empty.
  ///
  /// - Returns: Whether it is a vault.
  private static func checkFormat(_ database: Database) throws -> Bool {
    let application = try integer(database, "PRAGMA application_id")
    let version = try integer(database, "PRAGMA user_version")
    let objects = try schema(database)
    if application == 0, version == 0, objects.isEmpty { return false }
    guard application == Int64(VaultSchema.applicationID) else {
      throw KeychainError(
        .foreign, "the file is an SQLite database, but not a vault",
        recovery: "name another path, for example with KEYCHAIN_VAULT")
    }
    guard version != 1 else {
      throw KeychainError(
        .unsupportedFormat, "the vault is of a development version, whose format 1 is gone",
        recovery: "export it with that version, and import the export here")
    }
    guard version <= Int64(VaultSchema.version) else {
      throw KeychainError(
        .unsupportedFormat,
        "the vault has format \(version); this release reads format \(VaultSchema.version)",
        recovery: "use a newer release")
    }
    guard version == Int64(VaultSchema.version), objects == Set(VaultSchema.statements) else {
      throw KeychainError(
        .damaged, "the tables of the vault are damaged", recovery: .restoreBackup)
    }
    return true
  }

  private static func schema(_ database: Database) throws -> Set<String> {
    var objects: Set<String> = []
    let sql = "SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_autoindex_%'"
    try database.forEachRow(sql) { row in
      objects.insert(row.text(0) ?? "")
      return true
    }
    return objects
  }

  private static func text(_ database: Database, _ sql: String) throws -> String? {
    var text: String?
    try database.forEachRow(sql) { row in
      text = row.text(0)
      return true
    }
    return text
  }

  private static func integer(_ database: Database, _ sql: String) throws -> Int64 {
    var number: Int64 = 0
    try database.forEachRow(sql) { row throws(KeychainError) in
      number = try row.integer(0)
      return true
    }
    return number
  }
}
