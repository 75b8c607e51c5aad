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

  func put(_ row: VaultRow) throws(KeychainError) {
    record?.put(row)
    try execute(
      "INSERT OR REPLACE INTO vault (one, check0, check1, check2, sum) VALUES (1, ?, ?, ?, ?)",
      [row.checks.open, row.checks.first, row.checks.unlocked, row.sum])
  }

  func putState(_ box: Data) throws(KeychainError) {
    record?.putState(box)
    try execute("INSERT OR REPLACE INTO state (one, box) VALUES (1, ?)", [box])
  }

  func put(_ slot: SlotRow) throws(KeychainError) {
    try execute(
      """
      INSERT OR REPLACE INTO slot
      (number, kind, granted, parameters, salt, commitment, box, mac, sum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        Int64(slot.number), Int64(slot.kind.rawValue), Int64(slot.grant.rawValue), slot.parameters,
        slot.salt, slot.commitment, slot.box, slot.mac, slot.sum,
      ])
  }

  func removeSlot(_ number: UInt32) throws(KeychainError) {
    try execute("DELETE FROM slot WHERE number = ?", [Int64(number)])
  }

  func put(_ item: ItemRow, tokens: [Data], replacing old: [Data]) throws(KeychainError) {
    record?.put(item)
    try execute(
      """
      INSERT OR REPLACE INTO item (id, class, device, version, metadata, secret)
      VALUES (?, ?, ?, ?, ?, ?)
      """,
      [
        item.id, Int64(item.accessibility.rawValue), item.device,
        Int64(bitPattern: item.version), item.metadata, item.secret,
      ])
    let (old, new) = (Set(old), Set(tokens))
    for token in old.subtracting(new) {
      try execute("DELETE FROM token WHERE token = ? AND item = ?", [token, item.id])
    }
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

  func removeItem(_ id: Data) throws(KeychainError) {
    record?.remove(id)
    try execute("DELETE FROM item WHERE id = ?", [id])
    for token in try tokens(of: id) {
      try execute("DELETE FROM token WHERE token = ? AND item = ?", [token, id])
    }
  }

  func put(_ group: AccessGroupRow) throws(KeychainError) {
    try execute(
      "INSERT OR REPLACE INTO access_group (token, class, box) VALUES (?, ?, ?)",
      [group.token, Int64(group.accessibility.rawValue), group.box])
  }

  func removeAccessGroups() throws(KeychainError) {
    try execute("DELETE FROM access_group")
  }

  func overwriteDeleted() throws(KeychainError) {
    try execute("PRAGMA secure_delete = ON")
  }

  private func execute(
    _ sql: String, _ arguments: [(any DatabaseValueConvertible)?] = []
  ) throws(KeychainError) {
    do {
      try database.cachedStatement(sql: sql).execute(arguments: StatementArguments(arguments))
    } catch {
      throw SQLiteErrors.translate(error, path: path)
    }
  }
}
