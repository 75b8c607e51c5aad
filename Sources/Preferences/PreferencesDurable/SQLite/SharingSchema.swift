internal import Prephirences

/// The tables and triggers that a file has beside its own while it is shared.
enum SharingSchema {
  static let statements = tables + triggers

  private static let tables = [
    // What the engine has not yet: changes of a unit; the unit 0 are single changes, the last of
    // their keys.
    """
    CREATE TABLE log(unit INTEGER NOT NULL, key BLOB NOT NULL, generation INTEGER NOT NULL, \
    kind INTEGER NOT NULL, value BLOB NOT NULL, since INTEGER NOT NULL, \
    latest INTEGER NOT NULL, PRIMARY KEY(unit, key)) WITHOUT ROWID
    """,
    "CREATE INDEX turn ON log(latest) WHERE unit = 0",
    "CREATE INDEX claim ON log(key, unit) WHERE unit > 0",
    """
    CREATE TABLE unit(id INTEGER PRIMARY KEY, atomic INTEGER NOT NULL, state INTEGER NOT NULL, \
    tag BLOB NOT NULL, row BLOB NOT NULL, message BLOB NOT NULL)
    """,
    "CREATE INDEX unit_state ON unit(state)",
    // What the engine has.
    """
    CREATE TABLE shadow(key BLOB PRIMARY KEY, revision INTEGER NOT NULL, kind INTEGER NOT NULL, \
    row BLOB NOT NULL) WITHOUT ROWID
    """,
    "CREATE INDEX shadow_removal ON shadow(revision) WHERE kind = 0",
    """
    CREATE TABLE writer(tag BLOB PRIMARY KEY, number INTEGER NOT NULL, \
    own INTEGER NOT NULL) WITHOUT ROWID
    """,
    // What came from elsewhere.
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

  /// The time in milliseconds since 1970.
  static let now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

  // `state.sharing` is negative while changes of the engine are applied. A later single change takes
  // the place of an unsent one: it is as old as that, and is sent in its own turn.
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
    \(row).generation) ON CONFLICT(unit, key) DO UPDATE SET kind = excluded.kind, \
    value = excluded.value, latest = excluded.latest; END
    """
  }

  /// Makes the tables; within a transaction.
  static func create(_ connection: SQLiteConnection) throws(PreferencesError) {
    for statement in statements { try connection.run(statement) }
    try connection.run("PRAGMA user_version = \(PreferenceSchema.sharedVersion)")
  }

  /// Removes the tables; within a transaction.
  static func remove(_ connection: SQLiteConnection) throws(PreferencesError) {
    for name in ["logged_insert", "logged_update", "logged_delete"] {
      try connection.run("DROP TRIGGER \(name)")
    }
    for name in ["log", "unit", "shadow", "writer", "journal", "sync"] {
      try connection.run("DROP TABLE \(name)")
    }
    try connection.run("PRAGMA user_version = \(PreferenceSchema.version)")
  }
}
