internal import KeychainCredentials
internal import KeychainVaultFormat

/// The checks and slots of one state of the file, which unlocking uses.
struct VaultHead: Sendable {
  let row: VaultRow
  let slots: SlotList

  init(_ rows: any VaultRows) throws(KeychainError) {
    row = try rows.vaultRow()
    slots = try rows.slots()
    guard slots.intact.count(where: { $0.kind == .passphrase }) <= 8 else {
      throw KeychainError(.damaged, "the vault has more than 8 passphrase slots")
    }
  }

  func slots(_ kind: SlotKind) -> [SlotRow] { slots.intact.filter { $0.kind == kind } }
}
