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
        .blob(row.id.bytes), .integer(Int64(row.epoch)), .blob(row.checks.open),
        .blob(row.checks.first), .blob(row.checks.unlocked), .blob(row.parameters),
        .blob(row.administration), .blob(row.macs[0]), .blob(row.macs[1]), .blob(row.macs[2]),
        .integer(Int64(row.generation)), .blob(row.sum),
      ])
  }

  func put(_ row: MembersRow) throws(KeychainError) {
    try execute(
      "INSERT OR REPLACE INTO members (one, list, administration) VALUES (1, ?, ?)",
      [.blob(row.list), .blob(row.administration)])
  }

  func put(_ row: SuccessionRow) throws(KeychainError) {
    try execute(
      "INSERT INTO succession (epoch, record) VALUES (?, ?)",
      [.integer(Int64(row.epoch)), .blob(row.record)])
  }

  func putState(_ box: Data) throws(KeychainError) {
    record?.putState(box)
    try execute("INSERT OR REPLACE INTO state (one, box) VALUES (1, ?)", [.blob(box)])
  }

  func putChain(_ box: Data, at place: Int64) throws(KeychainError) {
    try execute(
      "INSERT OR REPLACE INTO chain (place, box) VALUES (?, ?)", [.integer(place), .blob(box)])
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
        .integer(Int64(slot.number)), .integer(Int64(slot.kind.rawValue)),
        .integer(Int64(slot.grant.rawValue)), .blob(slot.parameters), .blob(slot.salt),
        .blob(slot.made), .blob(slot.commitment), .blob(slot.box), .blob(slot.sum),
      ])
  }

  func removeSlot(_ number: UInt32) throws(KeychainError) {
    try execute("DELETE FROM slot WHERE number = ?", [.integer(Int64(number))])
  }

  func put(_ item: ItemRow, replacing old: Set<Data>) throws(KeychainError) {
    record?.put(item)
    try execute(
      """
      INSERT OR REPLACE INTO item (id, class, device, version, tokens, hash, metadata, secret)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .blob(item.id), .integer(Int64(item.accessibility.rawValue)), .optional(item.device),
        .integer(Int64(item.version)), .blob(item.tokens), .blob(item.secretHash),
        .blob(item.metadata), .blob(item.secret),
      ])
    let new = Set(item.allTokens)
    guard new != old else { return }
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
        "INSERT INTO token (token, item) VALUES \(marks)",
        some.flatMap { [.blob($0), .blob(item)] })
    }
  }

  private func remove(_ tokens: Set<Data>, of item: Data) throws(KeychainError) {
    for token in tokens {
      try execute("DELETE FROM token WHERE token = ? AND item = ?", [.blob(token), .blob(item)])
    }
  }

  func removeItem(_ id: Data, tokens: Set<Data>) throws(KeychainError) {
    record?.remove(id)
    try execute("DELETE FROM item WHERE id = ?", [.blob(id)])
    try remove(tokens, of: id)
  }

  func put(_ group: AccessGroupRow) throws(KeychainError) {
    try execute(
      "INSERT OR REPLACE INTO access_group (token, class, box) VALUES (?, ?, ?)",
      [
        .blob(group.token), .integer(Int64(group.accessibility.rawValue)), .blob(group.box),
      ])
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

  /// Runs a statement, whatever it returns: some pragmas return what they have set.
  func execute(_ sql: String, _ values: [BoundValue] = []) throws(KeychainError) {
    do {
      // A failure may have ended the transaction, and then a statement would commit by itself.
      guard database.isInsideTransaction else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
      try database.forEachRow(sql, values) { _ in true }
    } catch {
      throw SQLiteErrors.translate(error, path: path)
    }
  }
}
