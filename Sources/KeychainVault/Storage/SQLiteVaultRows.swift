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

  func headRow() throws(KeychainError) -> HeadRow {
    let row = try first("SELECT \(Self.headColumns) FROM head") { row throws(KeychainError) in
      try head(row)
    }
    guard let row else { throw .damagedVault(path, "its head is missing") }
    return row
  }

  func membersRow() throws(KeychainError) -> MembersRow {
    let row = try first("SELECT list, administration FROM members") { row throws(KeychainError) in
      MembersRow(list: try row.blob(0), administration: try row.blob(1))
    }
    guard let row else { throw .damagedVault(path, "its list of members is missing") }
    return row
  }

  func successions() throws(KeychainError) -> [SuccessionRow] {
    var rows: [SuccessionRow] = []
    try forEach("SELECT epoch, record FROM succession ORDER BY epoch") {
      row throws(KeychainError) in
      guard let epoch = UInt64(exactly: try row.integer(0)) else {
        throw .damagedVault(path, "a change of its administration key is damaged")
      }
      rows.append(SuccessionRow(epoch: epoch, record: try row.blob(1)))
    }
    return rows
  }

  func stateBox() throws(KeychainError) -> Data {
    let box = try first("SELECT box FROM state") { row throws(KeychainError) in try row.blob(0) }
    guard let box else { throw .damagedVault(path, "its state is missing") }
    return box
  }

  func topRows() throws(KeychainError) -> TopRows {
    // Three small statements, which others need as well, take less to prepare than a join.
    TopRows(head: try headRow(), members: try membersRow(), stateBox: try stateBox())
  }

  func chainBoxes(_ places: ClosedRange<Int64>?) throws(KeychainError) -> [Int64: Data] {
    var boxes: [Int64: Data] = [:]
    let places = places ?? Int64.min...Int64.max
    let sql = "SELECT place, box FROM chain WHERE place BETWEEN ? AND ?"
    try forEach(sql, [.integer(places.lowerBound), .integer(places.upperBound)]) {
      row throws(KeychainError) in
      boxes[try row.integer(0)] = try row.blob(1)
    }
    return boxes
  }

  private static let headColumns = """
    id, epoch, check0, check1, check2, parameters, administration, mac0, mac1, mac2,
    generation, sum
    """

  private func head(_ row: StoredRow) throws(KeychainError) -> HeadRow {
    try HeadRow(
      id: row.blob(0), epoch: row.integer(1), checks: [row.blob(2), row.blob(3), row.blob(4)],
      parameters: row.blob(5), administration: row.blob(6),
      macs: [row.blob(7), row.blob(8), row.blob(9)], generation: row.integer(10),
      sum: row.blob(11), path: path)
  }

  func accessGroup(
    _ token: Data, _ accessibility: Accessibility
  ) throws(KeychainError) -> AccessGroupRow? {
    let sql = "SELECT box FROM access_group WHERE token = ? AND class = \(accessibility.rawValue)"
    return try first(sql, [.blob(token)]) { row throws(KeychainError) in
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
      if let text = row.text(0), text != "ok" { problems.append(text) }
    }
    return problems
  }
}

extension SQLiteVaultRows {
  /// Runs a statement, and calls `body` with each row.
  func forEach(
    _ sql: String, _ arguments: [BoundValue] = [],
    _ body: (StoredRow) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    do {
      try database.forEachRow(sql, arguments) { row throws(KeychainError) in
        try body(row)
        return true
      }
    } catch {
      throw SQLiteErrors.translate(error, path: path)
    }
  }

  func first<Result>(
    _ sql: String, _ arguments: [BoundValue] = [],
    _ body: (StoredRow) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result? {
    do {
      var result: Result?
      try database.forEachRow(sql, arguments) { row throws(KeychainError) in
        result = try body(row)
        return false
      }
      return result
    } catch {
      throw SQLiteErrors.translate(error, path: path)
    }
  }
}
