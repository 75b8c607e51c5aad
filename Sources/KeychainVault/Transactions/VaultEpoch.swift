internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// A new root key with the head and the keys that follow from it.
struct VaultEpoch: Sendable {
  let root: SharedSecret
  let keys: TierKeys
  let head: HeadRow
  let administration: AdministrationKey

  private init(
    id: VaultID, epoch: UInt64, administration: AdministrationKey, generation: UInt64,
    signer: StateSigner?
  ) throws(KeychainError) {
    let binding = try KeyBinding(
      id: id, epoch: epoch, administration: administration.publicKey)
    root = SharedSecret(try RootKey.random())
    var keys = try TierKeys(root: root.bytes, id: id, epoch: epoch, binding: binding)
    keys.signer = signer
    self.keys = keys
    self.administration = administration
    head = try HeadRow(
      id: id, epoch: epoch, keys: keys, administration: administration.publicKey,
      generation: generation)
  }

  /// The first epoch of a new vault; `signer` signs the states of a shared one.
  init(signer: StateSigner?) throws(KeychainError) {
    try self.init(
      id: .random(), epoch: 1, administration: .random(), generation: 1, signer: signer)
  }

  /// The epoch after an older one, and above `floor`, with an administration key or a new one.
  init(
    after old: HeadRow, key: AdministrationKey?, above floor: UInt64, signer: StateSigner?
  ) throws(KeychainError) {
    let epoch = max(old.epoch, floor) + 1
    guard epoch <= HeadRow.greatestEpoch else {
      throw KeychainError(
        .damaged, "the vault counts more new keys than it can", recovery: .restoreBackup)
    }
    let administration: AdministrationKey
    if let key { administration = key } else { administration = try .random() }
    try self.init(
      id: old.id, epoch: epoch, administration: administration, generation: old.generation,
      signer: signer)
  }

  /// Returns what a grant gives.
  func granted(_ grant: SlotGrant) throws(KeychainError) -> GrantedKey {
    try GrantedKey(grant, root: root, keys: keys)
  }

  /// Gives the new keys to a listed slot.
  func reseal(
    _ slot: SlotRow, of member: Member, grant: SlotGrant
  ) throws(KeychainError) -> SlotSealing.Sealed {
    try SlotSealing.reseal(slot, of: member, grant: grant, granted: granted(grant), head: head)
  }

  /// Gives the keys to a new slot.
  func seal(
    _ input: borrowing SlotInput, number: UInt32, grant: SlotGrant = .administers,
    name: String = ""
  ) throws(KeychainError) -> SlotSealing.Sealed {
    try SlotSealing.seal(
      input, number: number, grant: grant, granted: granted(grant), head: head, name: name)
  }

  /// Gives the keys to a new recipient.
  func seal(
    to recipient: VaultRecipient, number: UInt32, grant: SlotGrant = .administers,
    name: String = ""
  ) throws(KeychainError) -> SlotSealing.Sealed {
    try SlotSealing.seal(
      to: recipient, number: number, grant: grant, granted: granted(grant), head: head, name: name)
  }

  /// Returns the first signed list of members.
  func members(
    _ members: [Member], kind: VaultKind
  ) throws(KeychainError) -> (list: MemberList, row: MembersRow) {
    try signed(
      members, serial: 1, nextNumber: (members.map(\.number).max() ?? 0) + 1, kind: kind,
      successions: [])
  }

  /// Returns the signed list of members that follows an older one, with a serial number above
  /// `floor`.
  func members(
    _ members: [Member], after old: MemberList, above floor: UInt64,
    successions: [SuccessionRow]
  ) throws(KeychainError) -> (list: MemberList, row: MembersRow) {
    let newest = members.map(\.number).max() ?? 0
    return try signed(
      members, serial: max(old.serial, floor) + 1,
      nextNumber: max(old.nextNumber, newest + 1), kind: old.vaultKind, successions: successions)
  }

  private func signed(
    _ members: [Member], serial: UInt64, nextNumber: UInt32, kind: VaultKind,
    successions: [SuccessionRow]
  ) throws(KeychainError) -> (list: MemberList, row: MembersRow) {
    let box = try administration.sealed(under: root.bytes)
    let list = MemberList(
      id: head.id, epoch: head.epoch, administration: head.administration,
      administrationHash: try Derivation.hash(box, count: 32), serial: serial,
      nextNumber: nextNumber, vaultKind: kind,
      successions: try SuccessionRow.hash(of: successions), members: members)
    let row = try MembersRow(
      list, signedBy: administration, administration: box, open: keys.open.bytes)
    return (list, row)
  }
}
