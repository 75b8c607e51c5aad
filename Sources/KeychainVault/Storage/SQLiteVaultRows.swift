internal import Foundation
internal import GRDB
internal import KeychainCredentials
internal import KeychainVaultFormat

/// The rows of a vault within one SQLite transaction.
struct SQLiteVaultRows: VaultRows {
  let database: Database
  let path: String

  /// Records what is written for the handle's observers, if there are any.
  var record: WriteRecord?

  func isInitialized() throws(KeychainError) -> Bool {
    try first("SELECT 1 FROM sqlite_schema LIMIT 1") { row throws(KeychainError) in true } ?? false
  }

  func vaultRow() throws(KeychainError) -> VaultRow {
    let row = try first("SELECT check0, check1, check2, sum FROM vault") {
      row throws(KeychainError) in
      try VaultRow(
        check0: row.blob(0), check1: row.blob(1), check2: row.blob(2), sum: row.blob(3), path: path)
    }
    guard let row else { throw .damagedVault(path, "its first row is missing") }
    return row
  }

  func stateBox() throws(KeychainError) -> Data {
    let box = try first("SELECT box FROM state") { row throws(KeychainError) in try row.blob(0) }
    guard let box else { throw .damagedVault(path, "its state row is missing") }
    return box
  }

  func slots() throws(KeychainError) -> SlotList {
    var list = SlotList()
    let sql = """
      SELECT number, kind, granted, parameters, salt, commitment, box, mac, sum FROM slot
      ORDER BY number LIMIT 33
      """
    try forEach(sql) { row throws(KeychainError) in
      let slot = try? Self.slot(row)
      if let slot, slot.isWellFormed, try slot.expectedSum() == slot.sum {
        list.intact.append(slot)
      } else {
        list.damaged.append(UInt32(truncatingIfNeeded: (try? row.integer(0)) ?? 0))
      }
    }
    guard list.intact.count + list.damaged.count <= 32 else {
      throw .damagedVault(path, "it has more than 32 slots")
    }
    return list
  }

  func item(_ id: Data) throws(KeychainError) -> ItemRow? {
    let sql = "SELECT id, class, device, version, metadata, secret FROM item WHERE id = ?"
    return try first(sql, [id]) { row throws(KeychainError) in
      let item = try Self.item(row, secret: row.blob(5))
      guard item.id == id else { throw .damagedItem(ItemRow.name(of: id)) }
      return item
    }
  }

  func hasToken(_ token: Data, item: Data) throws(KeychainError) -> Bool {
    // The name is SQLite's for the tree of the primary key. `NOT INDEXED` does not work: SQLite
    // then prefers the other index, which covers the query.
    let sql = """
      SELECT 1 FROM token INDEXED BY sqlite_autoindex_token_1 WHERE token = ? AND item = ?
      """
    return try first(sql, [token, item]) { row throws(KeychainError) in true } ?? false
  }

  func tokens(of item: Data) throws(KeychainError) -> [Data] {
    var tokens: [Data] = []
    let sql = "SELECT token FROM token INDEXED BY token_by_item WHERE item = ?"
    try forEach(sql, [item]) { row throws(KeychainError) in tokens.append(try row.blob(0)) }
    return tokens.sorted { $0.lexicographicallyPrecedes($1) }
  }

  func items(withToken token: Data) throws(KeychainError) -> [Data] {
    var items: [Data] = []
    let sql = "SELECT item FROM token INDEXED BY sqlite_autoindex_token_1 WHERE token = ?"
    try forEach(sql, [token]) { row throws(KeychainError) in items.append(try row.blob(0)) }
    return items
  }

  func items(withAll tokens: Set<Data>) throws(KeychainError) -> Set<Data> {
    // The unary plus keeps SQLite from using the tree ordered by token.
    let marks = tokens.map { _ in "?" }.joined(separator: ", ")
    let sql = """
      SELECT item FROM token INDEXED BY token_by_item WHERE item >= x'' AND +token IN (\(marks))
      GROUP BY item HAVING count(*) = \(tokens.count)
      """
    var items: Set<Data> = []
    try forEach(sql, Array(tokens)) { row throws(KeychainError) in items.insert(try row.blob(0)) }
    return items
  }

  func forEachItem(
    _ body: (_ id: Data, _ item: ItemRow?) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    try forEach("SELECT id, class, device, version, metadata FROM item ORDER BY id") {
      row throws(KeychainError) in
      try body((try? row.blob(0)) ?? Data(), try? Self.item(row, secret: Data()))
    }
  }

  func accessGroup(
    _ token: Data, _ accessibility: Accessibility
  ) throws(KeychainError) -> AccessGroupRow? {
    let sql = "SELECT box FROM access_group WHERE token = ? AND class = \(accessibility.rawValue)"
    return try first(sql, [token]) { row throws(KeychainError) in
      AccessGroupRow(token: token, accessibility: accessibility, box: try row.blob(0))
    }
  }

  func accessGroups() throws(KeychainError) -> [AccessGroupRow] {
    var groups: [AccessGroupRow] = []
    try forEach("SELECT token, class, box FROM access_group ORDER BY token, class") {
      row throws(KeychainError) in
      groups.append(
        AccessGroupRow(
          token: try row.blob(0), accessibility: try row.accessibility(1, of: Data()),
          box: try row.blob(2)))
    }
    return groups
  }

  func itemCounts() throws(KeychainError) -> [Accessibility: Int] {
    var counts: [Accessibility: Int] = [:]
    try forEach("SELECT class, count(*) FROM item GROUP BY class") { row throws(KeychainError) in
      // A verification reports items of an impossible class.
      guard let accessibility = try? row.accessibility(0, of: Data()) else { return }
      counts[accessibility] = Int(try row.integer(1))
    }
    return counts
  }

  func tokenCount() throws(KeychainError) -> Int {
    // SQLite would answer `count(*)` alone from whichever tree is smaller.
    var count = 0
    let sql = "SELECT token, item FROM token INDEXED BY sqlite_autoindex_token_1"
    try forEach(sql) { row throws(KeychainError) in count += 1 }
    return count
  }

  func itemCount() throws(KeychainError) -> Int {
    try first("SELECT count(*) FROM item") { row throws(KeychainError) in
      Int(try row.integer(0))
    } ?? 0
  }

  func integrityProblems() throws(KeychainError) -> [String] {
    let problems = try findIntegrityProblems()
    // SQLite lists a page that could not be read among the problems. Problems of the file itself
    // appear again.
    if problems.isEmpty { return [] }
    guard problems == (try findIntegrityProblems()) else {
      throw KeychainError(
        .inputOutput, "reading the vault failed: \(path)", recovery: "check the disk")
    }
    return problems
  }

  private func findIntegrityProblems() throws(KeychainError) -> [String] {
    var problems: [String] = []
    try forEach("PRAGMA integrity_check(20)") { row throws(KeychainError) in
      if let text = (row[0] as DatabaseValue).text, text != "ok" { problems.append(text) }
    }
    return problems
  }

  private static func slot(_ row: Row) throws(KeychainError) -> SlotRow {
    guard let number = UInt32(exactly: try row.integer(0)), number > 0,
      let kind = UInt8(exactly: try row.integer(1)).flatMap(SlotKind.init(rawValue:)),
      let grant = UInt8(exactly: try row.integer(2)).flatMap(SlotGrant.init(rawValue:))
    else { throw KeychainError(.damaged, "a slot of the vault is damaged") }
    return SlotRow(
      number: number, kind: kind, grant: grant, parameters: try row.blob(3), salt: try row.blob(4),
      commitment: try row.blob(5), box: try row.blob(6), mac: try row.blob(7), sum: try row.blob(8))
  }

  private static func item(_ row: Row, secret: Data) throws(KeychainError) -> ItemRow {
    let id = try row.blob(0)
    guard let version = UInt64(exactly: try row.integer(3)) else {
      throw .damagedItem(ItemRow.name(of: id))
    }
    return ItemRow(
      id: id, accessibility: try row.accessibility(1, of: id), device: try row.optionalBlob(2),
      version: version, metadata: try row.blob(4), secret: secret)
  }
}

extension SQLiteVaultRows {
  /// Returns the arguments of a statement.
  ///
  /// GRDB maps a sequence of one type by key paths, which costs several times as much.
  private static func bound(_ arguments: [Data]) -> StatementArguments {
    StatementArguments(arguments.map { $0 as (any DatabaseValueConvertible)? })
  }

  /// Runs a statement, and calls `body` with each row.
  func forEach(
    _ sql: String, _ arguments: [Data] = [], _ body: (Row) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    do {
      let statement = try database.cachedStatement(sql: sql)
      let rows = try Row.fetchCursor(statement, arguments: Self.bound(arguments))
      while let row = try rows.next() { try body(row) }
    } catch {
      throw SQLiteErrors.translate(error, path: path)
    }
  }

  func first<Result>(
    _ sql: String, _ arguments: [Data] = [], _ body: (Row) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result? {
    do {
      let statement = try database.cachedStatement(sql: sql)
      let rows = try Row.fetchCursor(statement, arguments: Self.bound(arguments))
      return try rows.next().map(body)
    } catch {
      throw SQLiteErrors.translate(error, path: path)
    }
  }
}

extension Row {
  /// Returns the blob of a column.
  ///
  /// Another type there is damage.
  func blob(_ index: Int) throws(KeychainError) -> Data {
    guard case .blob(let data) = (self[index] as DatabaseValue).storage else {
      throw KeychainError(.damaged, "a row of the vault is damaged")
    }
    return data
  }

  func optionalBlob(_ index: Int) throws(KeychainError) -> Data? {
    if case .null = (self[index] as DatabaseValue).storage { return nil }
    return try blob(index)
  }

  func integer(_ index: Int) throws(KeychainError) -> Int64 {
    guard case .int64(let value) = (self[index] as DatabaseValue).storage else {
      throw KeychainError(.damaged, "a row of the vault is damaged")
    }
    return value
  }

  func accessibility(_ index: Int, of id: Data) throws(KeychainError) -> Accessibility {
    guard let value = UInt8(exactly: try integer(index)).flatMap(Accessibility.init(rawValue:))
    else { throw .damagedItem(ItemRow.name(of: id)) }
    return value
  }
}
