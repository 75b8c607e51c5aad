internal import Foundation
internal import GRDB
internal import KeychainCredentials
internal import KeychainVaultFormat

extension SQLiteVaultRows: WritableVaultRows {
  func initialize() throws(KeychainError) {
    for statement in VaultSchema.statements { try execute(statement) }
    try execute("PRAGMA application_id = \(VaultSchema.applicationID)")
    try execute("PRAGMA user_version = \(VaultSchema.version)")
  }

  func put(_ row: HeadRow) throws(KeychainError) {
    record?.put(row)
    try execute(
      """
      INSERT OR REPLACE INTO head
      (one, id, epoch, check0, check1, check2, parameters, administration, mac0, mac1, mac2,
      generation, sum) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        row.id.bytes, Int64(row.epoch), row.checks.open, row.checks.first, row.checks.unlocked,
        row.parameters, row.administration, row.macs[0], row.macs[1], row.macs[2],
        Int64(row.generation), row.sum,
      ])
  }

  func put(_ row: MembersRow) throws(KeychainError) {
    try execute(
      "INSERT OR REPLACE INTO members (one, list, administration) VALUES (1, ?, ?)",
      [row.list, row.administration])
  }

  func put(_ row: SuccessionRow) throws(KeychainError) {
    try execute(
      "INSERT INTO succession (epoch, record) VALUES (?, ?)", [Int64(row.epoch), row.record])
  }

  func putState(_ box: Data) throws(KeychainError) {
    record?.putState(box)
    try execute("INSERT OR REPLACE INTO state (one, box) VALUES (1, ?)", [box])
  }

  func putChain(_ box: Data, at place: Int64) throws(KeychainError) {
    try execute("INSERT OR REPLACE INTO chain (place, box) VALUES (?, ?)", [place, box])
  }

  func removeChain() throws(KeychainError) { try execute("DELETE FROM chain") }

  func put(_ slot: SlotRow) throws(KeychainError) {
    try execute(
      """
      INSERT OR REPLACE INTO slot
      (number, kind, granted, parameters, salt, made, commitment, box, sum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        Int64(slot.number), Int64(slot.kind.rawValue), Int64(slot.grant.rawValue), slot.parameters,
        slot.salt, slot.made, slot.commitment, slot.box, slot.sum,
      ])
  }

  func removeSlot(_ number: UInt32) throws(KeychainError) {
    try execute("DELETE FROM slot WHERE number = ?", [Int64(number)])
  }

  func put(_ item: ItemRow, replacing old: Set<Data>) throws(KeychainError) {
    record?.put(item)
    try execute(
      """
      INSERT OR REPLACE INTO item (id, class, device, version, tokens, hash, metadata, secret)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        item.id, Int64(item.accessibility.rawValue), item.device,
        Int64(item.version), item.tokens, item.secretHash, item.metadata, item.secret,
      ])
    let new = Set(item.allTokens)
    try remove(old.subtracting(new), of: item.id)
    try insert(Array(new.subtracting(old)), of: item.id)
  }

  /// Inserts the tokens of an item with few statements, because a statement costs as much as many
  /// of its rows.
  private func insert(_ tokens: [Data], of item: Data) throws(KeychainError) {
    var rest = tokens[...]
    while !rest.isEmpty {
      let some = rest.prefix(100)
      rest = rest.dropFirst(100)
      let marks = repeatElement("(?, ?)", count: some.count).joined(separator: ", ")
      try execute(
        "INSERT INTO token (token, item) VALUES \(marks)", some.flatMap { [$0, item] })
    }
  }

  private func remove(_ tokens: Set<Data>, of item: Data) throws(KeychainError) {
    for token in tokens {
      try execute("DELETE FROM token WHERE token = ? AND item = ?", [token, item])
    }
  }

  func removeItem(_ id: Data, tokens: Set<Data>) throws(KeychainError) {
    record?.remove(id)
    try execute("DELETE FROM item WHERE id = ?", [id])
    try remove(tokens, of: id)
  }

  func put(_ group: AccessGroupRow) throws(KeychainError) {
    try execute(
      "INSERT OR REPLACE INTO access_group (token, class, box) VALUES (?, ?, ?)",
      [group.token, Int64(group.accessibility.rawValue), group.box])
  }

  func removeTokens() throws(KeychainError) { try execute("DELETE FROM token") }

  func putTokens(of item: ItemRow) throws(KeychainError) {
    try insert(item.allTokens, of: item.id)
  }

  func removeIndexes() throws(KeychainError) {
    try removeNodes()
    try removeTokens()
    try removeChain()
    try execute("DELETE FROM access_group")
  }

  func overwriteDeleted() throws(KeychainError) {
    try execute("PRAGMA secure_delete = ON")
  }

  func execute(
    _ sql: String, _ arguments: [(any DatabaseValueConvertible)?] = []
  ) throws(KeychainError) {
    do {
      try database.cachedStatement(sql: sql).execute(arguments: StatementArguments(arguments))
    } catch {
      throw SQLiteErrors.translate(error, path: path)
    }
  }
}
