internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

// The slots.
extension SQLiteVaultRows {
  func slots() throws(KeychainError) -> SlotList {
    var list = SlotList()
    var count = 0
    let sql = """
      SELECT number, kind, granted, parameters, salt, made, commitment, box, sum FROM slot
      ORDER BY number LIMIT 33
      """
    try forEach(sql) { row throws(KeychainError) in
      count += 1
      let number = UInt32(truncatingIfNeeded: (try? row.integer(0)) ?? 0)
      switch try Self.slot(row) {
      case .intact(let slot): list.intact.append(slot)
      case .unknown: list.unknown.append(number)
      case .damaged: list.damaged.append(number)
      }
    }
    guard count <= 32 else { throw .damagedVault(path, "it has more than 32 slots") }
    return list
  }

  private enum Slot {
    case intact(SlotRow)
    case unknown
    case damaged
  }

  private static func slot(_ row: StoredRow) throws(KeychainError) -> Slot {
    guard let number = (try? row.integer(0)).flatMap(UInt32.init(exactly:)), number > 0,
      let kind = (try? row.integer(1)).flatMap(UInt8.init(exactly:)),
      let grant = (try? row.integer(2)).flatMap(UInt8.init(exactly:)),
      let columns = try? (3...8).map({ try row.blob($0) })
    else { return .damaged }
    guard let kind = SlotKind(rawValue: kind), let grant = SlotGrant(rawValue: grant) else {
      return .unknown
    }
    let slot = SlotRow(
      number: number, kind: kind, grant: grant, parameters: columns[0], salt: columns[1],
      made: columns[2], commitment: columns[3], box: columns[4], sum: columns[5])
    guard slot.isWellFormed, try slot.expectedSum() == slot.sum else { return .damaged }
    return .intact(slot)
  }
}
