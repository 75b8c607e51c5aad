internal import Prephirences

/// The tables of a file of preferences, and what is checked and set when it is opened.
enum PreferenceSchema {
  /// "Pref" in ASCII.
  static let applicationID: Int64 = 0x5072_6566

  /// The version of a file that is not shared, and of one that is.
  static let version: Int64 = 1
  static let sharedVersion: Int64 = 2

  private static let statements = [
    """
    CREATE TABLE preference(key BLOB PRIMARY KEY, generation INTEGER NOT NULL, \
    kind INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID
    """,
    "CREATE INDEX change ON preference(generation)",
    "CREATE INDEX removal ON preference(generation) WHERE kind = 0",
    """
    CREATE TABLE state(one INTEGER PRIMARY KEY CHECK(one = 1), generation INTEGER NOT NULL, \
    floor INTEGER NOT NULL, syncs INTEGER NOT NULL, imported INTEGER NOT NULL, \
    sharing INTEGER NOT NULL)
    """,
  ]

  /// What a file can be.
  enum Finding {
    /// The file has no tables, because its creation did not end.
    case empty
    case ready(isShared: Bool)
  }

  /// Sets what protects against a hostile file; nothing is read before.
  static func protect(_ connection: SQLiteConnection) throws(PreferencesError) {
    // Triggers, views and functions of the file must not run.
    try connection.run("PRAGMA trusted_schema = OFF")
    try connection.run("PRAGMA cell_size_check = ON")
    try connection.run("PRAGMA mmap_size = 0")
  }

  /// Sets how a commit is written, and reads it back, because a pragma without effect reports no
  /// error.
  static func requireDurability(
    _ connection: SQLiteConnection, onNetwork: Bool
  ) throws(PreferencesError) {
    let (journal, level): (String, Int64) = onNetwork ? ("truncate", 2) : ("wal", 1)
    let actual = try connection.text("PRAGMA journal_mode = \(journal)")
    try connection.run("PRAGMA synchronous = \(level)")
    try connection.run("PRAGMA wal_autocheckpoint = 0")
    guard actual == journal, try connection.integer("PRAGMA synchronous") == level,
      try connection.integer("PRAGMA wal_autocheckpoint") == 0
    else {
      throw PreferencesError(
        .inputOutput,
        "SQLite does not offer the durability that preferences need: \(connection.path)")
    }
    if !onNetwork { connection.countFrames() }
  }

  static func check(_ connection: SQLiteConnection) throws(PreferencesError) -> Finding {
    try connection.run("BEGIN")
    defer { connection.rollBack() }
    return try inspect(connection)
  }

  /// Checks the tables; within a transaction.
  static func inspect(_ connection: SQLiteConnection) throws(PreferencesError) -> Finding {
    let application = try connection.integer("PRAGMA application_id") ?? 0
    let version = try connection.integer("PRAGMA user_version") ?? 0
    var objects: Set<String> = []
    try connection.run(
      "SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_autoindex_%'"
    ) { row in objects.insert(String(decoding: row.bytes(0), as: UTF8.self)) }
    if application == 0, version == 0, objects.isEmpty { return .empty }
    let path = connection.path
    guard application == applicationID else {
      throw PreferencesError(
        .damaged, "the file is an SQLite database of another program; move it away: \(path)")
    }
    guard version <= sharedVersion else {
      throw PreferencesError(
        .unsupportedFormat,
        "the preferences have format \(version), and this release reads format \(sharedVersion); "
          + "use a newer release: \(path)")
    }
    let isShared = version == sharedVersion
    let expected = isShared ? statements + SharingSchema.statements : statements
    guard isShared || version == Self.version, objects == Set(expected) else {
      throw PreferencesError(
        .damaged, "the tables of the preferences are damaged; move the file away: \(path)")
    }
    return .ready(isShared: isShared)
  }

  /// Creates the tables; within a transaction.
  static func create(_ connection: SQLiteConnection) throws(PreferencesError) {
    for statement in statements { try connection.run(statement) }
    try connection.run("INSERT INTO state VALUES(1, 1, 0, 0, 0, 0)")
    try connection.run("PRAGMA application_id = \(applicationID)")
    try connection.run("PRAGMA user_version = \(version)")
  }
}
