import CFaultVFS

extension TestHome {
  /// What is wrong in the tables of a shared file, which must agree; `ok` if nothing is.
  func disagreements() -> String { query(Self.comparison) }

  /// Performs a statement, past all rules.
  ///
  /// - Returns: The text of the first column of the first row.
  @discardableResult
  func query(_ sql: String) -> String {
    var text = [CChar](repeating: 0, count: 1000)
    database_query(database, sql, &text, Int32(text.count))
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  // A value is the last unsent one of its key, or else what the engine has. Rows of a newer form have
  // no kind.
  private static let comparison = """
    WITH last AS (
      SELECT key, kind, value FROM log AS one WHERE NOT EXISTS (
        SELECT 1 FROM log AS other WHERE other.key = one.key
        AND CASE other.unit WHEN 0 THEN 1 << 60 ELSE other.unit END
        > CASE one.unit WHEN 0 THEN 1 << 60 ELSE one.unit END)),
    known AS (
      SELECT key, kind, value FROM last UNION ALL
      SELECT key, kind, substr(row, 43) FROM shadow
      WHERE kind >= 0 AND key NOT IN (SELECT key FROM last)),
    present AS (SELECT key, kind, value FROM preference WHERE kind != 0)
    SELECT coalesce(group_concat(what || ' ' || CAST(key AS TEXT), ', '), 'ok') FROM (
      SELECT 'differs' AS what, key FROM (
        SELECT * FROM (SELECT * FROM known WHERE kind != 0 EXCEPT SELECT * FROM present)
        UNION SELECT * FROM (SELECT * FROM present EXCEPT SELECT * FROM known))
      UNION ALL
      SELECT 'no unit', key FROM log WHERE unit > 0 AND unit NOT IN (SELECT id FROM unit)
      UNION ALL
      SELECT 'empty', id FROM unit WHERE id NOT IN (SELECT unit FROM log)
      UNION ALL
      SELECT 'number', id FROM unit, sync
      WHERE state = 1 AND (unit.tag != sync.tag OR substr(unit.row, 10) != nonce)
      UNION ALL
      SELECT 'unit number', id FROM unit, sync WHERE id > units
      UNION ALL
      SELECT 'writer', hex(tag) FROM sync WHERE tag NOT IN (SELECT tag FROM writer)
      UNION ALL
      SELECT 'applying', sharing FROM state WHERE sharing <= 0)
    """
}
