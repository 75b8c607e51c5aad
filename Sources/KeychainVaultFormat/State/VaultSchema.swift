/// The schema of format 2; see the article VaultFormat.
package enum VaultSchema {
  /// SQLite's `application_id`: "PKVT".
  package static let applicationID: Int32 = 0x504B_5654

  /// SQLite's `user_version`.
  package static let version: UInt32 = 2

  /// The statements that create the tables.
  ///
  /// SQLite stores them unchanged.
  package static let statements: [String] = [
    """
    CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), id BLOB NOT NULL, epoch \
    INTEGER NOT NULL, check0 BLOB NOT NULL, check1 BLOB NOT NULL, check2 BLOB NOT NULL, \
    parameters BLOB NOT NULL, administration BLOB NOT NULL, mac0 BLOB NOT NULL, mac1 BLOB NOT \
    NULL, mac2 BLOB NOT NULL, generation INTEGER NOT NULL, sum BLOB NOT NULL) STRICT
    """,
    """
    CREATE TABLE members (one INTEGER PRIMARY KEY CHECK (one = 1), list BLOB NOT NULL, \
    administration BLOB NOT NULL) STRICT
    """,
    "CREATE TABLE succession (epoch INTEGER PRIMARY KEY, record BLOB NOT NULL) STRICT",
    """
    CREATE TABLE slot (number INTEGER PRIMARY KEY, kind INTEGER NOT NULL, granted INTEGER NOT \
    NULL, parameters BLOB NOT NULL, salt BLOB NOT NULL, made BLOB NOT NULL, commitment BLOB \
    NOT NULL, box BLOB NOT NULL, sum BLOB NOT NULL) STRICT
    """,
    "CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), box BLOB NOT NULL) STRICT",
    "CREATE TABLE chain (place INTEGER PRIMARY KEY, box BLOB NOT NULL) STRICT",
    """
    CREATE TABLE item (id BLOB NOT NULL PRIMARY KEY, class INTEGER NOT NULL, device BLOB, \
    version INTEGER NOT NULL, tokens BLOB NOT NULL, hash BLOB NOT NULL, metadata BLOB NOT \
    NULL, secret BLOB NOT NULL) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE token (token BLOB NOT NULL, item BLOB NOT NULL, PRIMARY KEY (token, item)) \
    STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE access_group (token BLOB NOT NULL, class INTEGER NOT NULL, box BLOB NOT NULL, \
    PRIMARY KEY (token, class)) STRICT, WITHOUT ROWID
    """,
    "CREATE TABLE item_node (prefix INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT",
    "CREATE TABLE token_node (prefix INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT",
    "CREATE TABLE group_node (prefix INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT",
  ]
}
