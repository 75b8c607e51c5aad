internal import CPrephirencesSQLiteChecks
internal import PreferencesCore

/// The tables of a file of preferences, with the checks and settings for opening it.
enum PreferenceSchema {
  static let applicationID = Int64(CheckedApplication)

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

  /// What a file contains.
  enum Finding {
    /// No tables, because its creation was interrupted.
    case empty
    case ready(isShared: Bool)
  }

  /// Sets the protections against a hostile file, before anything is read.
  static func protect(_ connection: SQLiteConnection) throws {
    // Triggers, views and functions of the file must not run.
    try connection.run("PRAGMA trusted_schema = OFF")
    try connection.run("PRAGMA cell_size_check = ON")
    try connection.run("PRAGMA mmap_size = 0")
    // Each page is written once in a transaction: the sums of the log's pages are valid only at its
    // end.
    try connection.run("PRAGMA cache_spill = OFF")
  }

  /// Sets how a commit is written, and reads it back, because an ineffective pragma reports no
  /// error.
  static func requireDurability(_ connection: SQLiteConnection, onNetwork: Bool) throws {
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

  static func check(_ connection: SQLiteConnection) throws -> Finding {
    try connection.run("BEGIN")
    defer { connection.rollBack() }
    return try inspect(connection)
  }

  /// Checks the tables, within a transaction.
  static func inspect(_ connection: SQLiteConnection) throws -> Finding {
    let application = try connection.integer("PRAGMA application_id") ?? 0
    let version = try connection.integer("PRAGMA user_version") ?? 0
    let objects = Set(
      try connection.all(
        "SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_autoindex_%'"
      ) { $0.text(0) })
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

  /// Refuses a log that begins with a later change than the next one of the database.
  ///
  /// This happens with an older copy of the database next to the log, and with copies of a folder
  /// that was in use: the pages of the changes between are missing.
  static func requireOwnLog(_ connection: SQLiteConnection, _ file: SuiteFile) throws {
    let root = try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'state'")
    // Read the log first: a database that changes meanwhile only gets later generations.
    guard let root, let first = connection.firstPageInLog(root).flatMap(generation),
      let present = connection.databasePage(root).flatMap(generation), present + 1 < first
    else { return }
    throw PreferencesError(
      .damaged,
      "the file is older than its log, so changes that were made are missing; restore a copy of "
        + "all its files, or move the log away to use the file alone: \(file.logPath)")
  }

  /// Returns the generation in a page of the table `state`, or `nil`.
  ///
  /// The table has one row, in a leaf page: a cell with the lengths of the row and of its number,
  /// and the kinds of its columns before their values. The first column is that number, without a
  /// value.
  private static func generation(_ page: [UInt8]) -> Int64? {
    guard page[0] == 13, page[4] == 1 else { return nil }
    let cell = Int(page[8]) << 8 | Int(page[9])
    let sizes = [0, 1, 2, 3, 4, 6, 8]
    guard cell + 5 <= page.count, page[cell + 3] == 0, Int(page[cell + 4]) < sizes.count else {
      return nil
    }
    let start = cell + 2 + Int(page[cell + 2])
    let end = start + sizes[Int(page[cell + 4])]
    guard end <= page.count else { return nil }
    return page[start..<end].reduce(0) { $0 << 8 | Int64($1) }
  }

  /// Creates the tables, within a transaction.
  static func create(_ connection: SQLiteConnection) throws {
    for statement in statements { try connection.run(statement) }
    try connection.run("INSERT INTO state VALUES(1, 1, 0, 0, 0, 0)")
    try connection.run("PRAGMA application_id = \(applicationID)")
    try connection.run("PRAGMA user_version = \(version)")
  }
}

/// The additional tables and triggers of a shared file.
///
/// The format keeps older names: `log` is the outbox, a `unit` a batch, and `journal` the change
/// feed.
enum SharingSchema {
  static let statements = tables + triggers

  private static let tables = [
    // Unsent changes. Unit 0 has single changes, at most one for each key. Units below 0 are rows
    // that the server has lost.
    """
    CREATE TABLE log(unit INTEGER NOT NULL, key BLOB NOT NULL, generation INTEGER NOT NULL, \
    kind INTEGER NOT NULL, value BLOB NOT NULL, since INTEGER NOT NULL, \
    latest INTEGER NOT NULL, origin BLOB NOT NULL, PRIMARY KEY(unit, key)) WITHOUT ROWID
    """,
    "CREATE INDEX turn ON log(latest) WHERE unit = 0",
    "CREATE INDEX claim ON log(key, unit) WHERE unit != 0",
    """
    CREATE TABLE unit(id INTEGER PRIMARY KEY, atomic INTEGER NOT NULL, state INTEGER NOT NULL, \
    tag BLOB NOT NULL, row BLOB NOT NULL, message BLOB NOT NULL)
    """,
    "CREATE INDEX unit_state ON unit(state)",
    // The server's rows.
    """
    CREATE TABLE shadow(key BLOB PRIMARY KEY, revision INTEGER NOT NULL, kind INTEGER NOT NULL, \
    row BLOB NOT NULL) WITHOUT ROWID
    """,
    "CREATE INDEX shadow_removal ON shadow(revision) WHERE kind = 0",
    """
    CREATE TABLE writer(tag BLOB PRIMARY KEY, number INTEGER NOT NULL, \
    current INTEGER NOT NULL, own INTEGER NOT NULL) WITHOUT ROWID
    """,
    // The changes from elsewhere.
    """
    CREATE TABLE journal(number INTEGER PRIMARY KEY, position INTEGER NOT NULL, \
    date INTEGER NOT NULL, reason INTEGER NOT NULL, conflict INTEGER NOT NULL, \
    tag BLOB NOT NULL, key BLOB NOT NULL, old_kind INTEGER NOT NULL, old BLOB NOT NULL, \
    new_kind INTEGER NOT NULL, new BLOB NOT NULL)
    """,
    "CREATE INDEX journal_change ON journal(number) WHERE conflict = 0",
    "CREATE INDEX journal_loss ON journal(number) WHERE conflict = 1",
    """
    CREATE TABLE sync(one INTEGER PRIMARY KEY CHECK(one = 1), settings BLOB NOT NULL, \
    closed INTEGER NOT NULL, identity BLOB NOT NULL, tag BLOB NOT NULL, row BLOB NOT NULL, \
    written INTEGER NOT NULL, number INTEGER NOT NULL, nonce BLOB NOT NULL, \
    revision INTEGER NOT NULL, arrival INTEGER NOT NULL, units INTEGER NOT NULL, \
    report BLOB NOT NULL)
    """,
  ]

  static let now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

  // `state.sharing` is negative while changes of the server are applied. A later single change
  // replaces an unsent one: it keeps that one's age, and is sent in its own turn.
  private static let triggers = [
    trigger("logged_insert", "INSERT", "NEW", "NEW.kind, NEW.value"),
    trigger("logged_update", "UPDATE", "NEW", "NEW.kind, NEW.value"),
    trigger("logged_delete", "DELETE", "OLD", "0, x''", only: " AND OLD.kind != 0"),
  ]

  private static func trigger(
    _ name: String, _ event: String, _ row: String, _ value: String, only condition: String = ""
  ) -> String {
    """
    CREATE TRIGGER \(name) AFTER \(event) ON preference \
    WHEN (SELECT sharing FROM state WHERE one = 1) > 0\(condition) BEGIN \
    INSERT INTO log VALUES(0, \(row).key, \(row).generation, \(value), \(now), \
    \(row).generation, x'') ON CONFLICT(unit, key) DO UPDATE SET kind = excluded.kind, \
    value = excluded.value, latest = excluded.latest; END
    """
  }

  /// Creates the tables, within a transaction.
  static func create(_ connection: SQLiteConnection) throws {
    for statement in statements { try connection.run(statement) }
    try connection.run("PRAGMA user_version = \(PreferenceSchema.sharedVersion)")
  }

  /// Removes the tables, within a transaction.
  static func remove(_ connection: SQLiteConnection) throws {
    for name in ["logged_insert", "logged_update", "logged_delete"] {
      try connection.run("DROP TRIGGER \(name)")
    }
    for name in ["log", "unit", "shadow", "writer", "journal", "sync"] {
      try connection.run("DROP TABLE \(name)")
    }
    try connection.run("PRAGMA user_version = \(PreferenceSchema.version)")
  }
}
