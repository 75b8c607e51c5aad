import CSQLiteForBare

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
      CREATE TABLE preference(key BLOB PRIMARY KEY, generation INTEGER NOT NULL,
      kind INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID;
      CREATE INDEX change ON preference(generation);
      CREATE INDEX removal ON preference(generation) WHERE kind = 0
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
      let status = withUnsafeBytes(of: value) { value in
        key.withUTF8 { key in
          sqlite3_bind_blob(insertion, 1, key.baseAddress, CInt(key.count), nil)
          sqlite3_bind_int64(insertion, 2, generation)
          sqlite3_bind_int64(insertion, 3, 2)
          sqlite3_bind_blob(insertion, 4, value.baseAddress, CInt(value.count), nil)
          return sqlite3_step(insertion)
        }
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
