internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

// The items, and how they are found.
extension SQLiteVaultRows {
  private static let columns = "id, class, device, version, tokens, hash, metadata"

  func item(_ id: Data) throws(KeychainError) -> ItemRow? {
    try first("SELECT \(Self.columns), secret FROM item WHERE id = ?", [.blob(id)]) {
      row throws(KeychainError) in
      try Self.item(row, id, secret: row.blob(7))
    }
  }

  func itemWithoutSecret(_ id: Data) throws(KeychainError) -> ItemRow? {
    try first("SELECT \(Self.columns) FROM item WHERE id = ?", [.blob(id)]) {
      row throws(KeychainError) in
      try Self.item(row, id, secret: Data())
    }
  }

  func item(
    _ id: Data, nodes prefixes: [UInt64]
  ) throws(KeychainError) -> (item: ItemRow?, nodes: NodeContents) {
    let marks = prefixes.map { _ in "?" }.joined(separator: ", ")
    let sql = """
      SELECT \(Self.columns), secret FROM item WHERE id = ?
      UNION ALL SELECT content, prefix, NULL, NULL, NULL, NULL, NULL, NULL FROM item_node
      WHERE prefix IN (\(marks))
      """
    var item: ItemRow?
    var failure: KeychainError?
    var nodes = NodeContents()
    let arguments = [.blob(id)] + prefixes.map { BoundValue.integer(Int64($0)) }
    try forEach(sql, arguments) { row throws(KeychainError) in
      if row.isNull(6) {
        nodes.add(try row.blob(0), at: UInt64(try row.integer(1)))
        return
      }
      do throws(KeychainError) {
        item = try Self.item(row, id, secret: row.blob(7))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return (item, nodes)
  }

  func items(withToken token: Data) throws(KeychainError) -> [Data] {
    var items: [Data] = []
    try forEach("SELECT item FROM token WHERE token = ? ORDER BY item", [.blob(token)]) {
      row throws(KeychainError) in items.append(try row.blob(0))
    }
    return items
  }

  func tokenCount(of item: ItemRow) throws(KeychainError) -> Int {
    var count = 0
    var rest = item.allTokens[...]
    while !rest.isEmpty {
      let some = rest.prefix(100)
      rest = rest.dropFirst(100)
      let marks = some.map { _ in "?" }.joined(separator: ", ")
      let sql = "SELECT count(*) FROM token WHERE token IN (\(marks)) AND item = ?"
      count +=
        try first(sql, (some + [item.id]).map(BoundValue.blob)) {
          row throws(KeychainError) in
          Int(try row.integer(0))
        } ?? 0
    }
    return count
  }

  func forEachItem(
    _ body: (_ id: Data, _ item: ItemRow?) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    try forEach("SELECT \(Self.columns) FROM item ORDER BY id") { row throws(KeychainError) in
      let id = (try? row.blob(0)) ?? Data()
      try body(id, try? Self.item(row, id, secret: Data()))
    }
  }

  func forEachToken(
    _ body: (_ token: Data, _ item: Data) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    try forEach("SELECT token, item FROM token ORDER BY token, item") {
      row throws(KeychainError) in
      try body(try row.blob(0), try row.blob(1))
    }
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

  func itemCount() throws(KeychainError) -> Int {
    try first("SELECT count(*) FROM item") { row throws(KeychainError) in
      Int(try row.integer(0))
    } ?? 0
  }

  private static func item(
    _ row: StoredRow, _ id: Data, secret: Data
  ) throws(KeychainError) -> ItemRow {
    guard try row.blob(0) == id, let version = UInt64(exactly: try row.integer(3)), version > 0
    else { throw .damagedItem(ItemRow.name(of: id)) }
    let item = ItemRow(
      id: id, accessibility: try row.accessibility(1, of: id), device: try row.optionalBlob(2),
      version: version, tokens: try row.blob(4), secretHash: try row.blob(5),
      metadata: try row.blob(6), secret: secret)
    guard item.hasPossibleTokens else { throw .damagedItem(ItemRow.name(of: id)) }
    return item
  }
}

extension ItemRow {
  /// Whether the tokens are whole, in order and unique.
  fileprivate var hasPossibleTokens: Bool {
    guard tokens.count.isMultiple(of: Self.tokenCount), tokens.count <= Self.maximumTokensCount
    else { return false }
    let all = allTokens
    return zip(all, all.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }
  }
}
