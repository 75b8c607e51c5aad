internal import GRDB
internal import KeychainCredentials

/// Sets a connection up, and checks that the file is a vault of this format.
enum SQLiteSetup {
  static func prepare(_ database: Database) throws {
    // A hostile file could carry triggers, views or functions; none of them may act.
    try database.execute(sql: "PRAGMA trusted_schema = OFF")
    try database.execute(sql: "PRAGMA cell_size_check = ON")
    try database.execute(sql: "PRAGMA mmap_size = 0")
    // In one transaction: another process may fill the file between two looks at it.
    try database.inTransaction(.deferred) {
      try checkFormat(database)
      return .commit
    }
    try requireDurability(database)
  }

  /// Sets what makes a commit durable, and reads it back: a pragma that does not take says nothing.
  private static func requireDurability(_ database: Database) throws {
    // A write-ahead log here was not made by a vault; switching it off would write to the file.
    guard try text(database, "PRAGMA journal_mode") != "wal" else {
      throw KeychainError(.damaged, "the file is in write-ahead mode, which no vault is")
    }
    try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST")
    guard try text(database, "PRAGMA journal_mode = TRUNCATE") == "truncate",
      try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2
    else {
      throw KeychainError(
        .internalFailure, "SQLite does not offer the durability that a vault needs")
    }
  }

  private static func checkFormat(_ database: Database) throws {
    let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
    let version = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    let objects = try schema(database)
    if application == 0, version == 0, objects.isEmpty { return }
    guard application == VaultSchema.applicationID else {
      throw KeychainError(
        .foreign, "the file is an SQLite database, and not a vault",
        recovery: "name another path, as by KEYCHAIN_VAULT")
    }
    guard version <= Int32(VaultSchema.version) else {
      throw KeychainError(
        .unsupportedFormat,
        "the vault has format \(version); this release reads format \(VaultSchema.version)",
        recovery: "use a newer release")
    }
    guard version == Int32(VaultSchema.version), objects == Set(VaultSchema.statements) else {
      throw KeychainError(
        .damaged, "the tables of the vault are damaged", recovery: "restore a backup")
    }
  }

  private static func schema(_ database: Database) throws -> Set<String> {
    let rows = try Row.fetchAll(
      database, sql: "SELECT type, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_autoindex_%'")
    return Set(rows.map { row in (row[1] as DatabaseValue).text ?? "" })
  }

  private static func text(_ database: Database, _ sql: String) throws -> String? {
    try Row.fetchOne(database, sql: sql).flatMap { ($0[0] as DatabaseValue).text }
  }
}

extension DatabaseValue {
  /// The text; `nil` for any other type.
  ///
  /// GRDB's own conversions trap on what does not convert.
  var text: String? {
    if case .string(let text) = storage { text } else { nil }
  }
}
