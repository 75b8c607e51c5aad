import GRDBSQLite

/// The minimum work of durable preferences: the same table in the same journal mode, by SQLite's C
/// functions, without locks, checks and observers.
final class BarePreferences {
  struct Failure: Error {
    let status: CInt
  }

  private var database: OpaquePointer?
  private var insertion: OpaquePointer?

  init(path: String) throws {
    try check(sqlite3_open(path, &database))
    try execute(
      """
      PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;
      CREATE TABLE preference (key BLOB NOT NULL PRIMARY KEY, generation INTEGER NOT NULL,
      kind INTEGER NOT NULL, value) WITHOUT ROWID;
      CREATE INDEX feed ON preference (generation)
      """)
    let text =
      "INSERT OR REPLACE INTO preference (key, generation, kind, value) VALUES (?, ?, ?, ?)"
    try check(sqlite3_prepare_v2(database, text, -1, &insertion, nil))
  }

  deinit {
    sqlite3_finalize(insertion)
    sqlite3_close(database)
  }

  func insert(_ values: [String: Int], generation: Int64) throws {
    try execute("BEGIN IMMEDIATE")
    for (key, value) in values {
      var key = key
      let status = key.withUTF8 { bytes in
        sqlite3_bind_blob(insertion, 1, bytes.baseAddress, CInt(bytes.count), nil)
        sqlite3_bind_int64(insertion, 2, generation)
        sqlite3_bind_int64(insertion, 3, 1)
        sqlite3_bind_int64(insertion, 4, Int64(value))
        return sqlite3_step(insertion)
      }
      guard status == SQLITE_DONE else { throw Failure(status: status) }
      try check(sqlite3_reset(insertion))
    }
    try execute("COMMIT")
  }

  private func execute(_ text: String) throws {
    try check(sqlite3_exec(database, text, nil, nil, nil))
  }

  private func check(_ status: CInt) throws {
    guard status == SQLITE_OK else { throw Failure(status: status) }
  }
}
