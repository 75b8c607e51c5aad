package import Foundation
package import KeychainCredentials
internal import KeychainSecrets

extension MemberList {
  private static let label = "pk3/members"

  /// Signs and seals the list, for the head.
  ///
  /// The administration key is the one that the list names, the box key ``BoxKeys/members``.
  package func sealed(
    by key: AdministrationKey, _ boxKey: SharedSecret
  ) throws(KeychainError) -> Data {
    guard isPossible, administration == key.publicKey else {
      throw KeychainError(.internalFailure, "a list of members was made that no reader accepts")
    }
    let fields = fields
    let signature = try key.sign(fields, label: Self.label)
    return try Sealing.seal(fields: fields + signature, with: boxKey.bytes)
  }

  /// Opens the list of a head with T0, and checks all of it but the slots.
  ///
  /// Its signature must be right; it must be of this vault, epoch and administration key, and name the
  /// box of the administration key and the successions.
  package static func open(
    _ box: Data, _ head: HeadIdentity, administrationBox: Data, successions: [Data],
    _ open: SharedSecret
  ) throws(KeychainError) -> MemberList {
    let boxKey = try Derivation.key(open.bytes, "pk3/members")
    guard let plain = try Sealing.openFields(box, with: boxKey), plain.count > Signature.count
    else { throw .damagedMembers("it does not open") }
    let fields = Array(plain.dropLast(Signature.count))
    let signature = Data(copying: plain.suffix(Signature.count))
    guard Signing.isRight(signature, of: fields, label: label, publicKey: head.administration)
    else { throw .damagedMembers("its signature is not the administration key's") }
    guard let list = unsafe MemberList(fields.span.bytes) else {
      throw .damagedMembers("it breaks the format")
    }
    guard list.id == head.id, list.epoch == head.epoch, list.administration == head.administration
    else { throw .damagedMembers("it is of another vault or an older epoch") }
    guard try list.administrationHash == Derivation.hash(of: administrationBox) else {
      throw .damagedMembers("the box of its administration key is not the one it names")
    }
    guard try list.successions == Succession.hash(of: successions) else {
      throw .damagedMembers("the successions of the administration key are not those it names")
    }
    try Succession.requireOrder(successions, head)
    return list
  }
}

extension MemberList {
  /// Returns the entry of a slot; `nil` if the list does not have it as it is.
  package func entry(of slot: SlotRow) throws(KeychainError) -> Member? {
    let hash = try slot.hash()
    guard let member = member(slot.number), member.kind == slot.kind, member.grant == slot.grant,
      member.slotHash == hash
    else { return nil }
    return member
  }

  /// Returns the entry of a slot that was opened; fails if it isn't listed with the keys that opened
  /// it.
  ///
  /// That a holder of the root key once made a slot does not show that it still counts.
  package func requireListed(
    _ slot: SlotRow, openedBy keys: SlotKeys
  ) throws(KeychainError) -> Member {
    let signingKey = slot.kind.signs ? try keys.signingKey() : Data()
    guard let member = try entry(of: slot), member.boxKey == keys.boxKey,
      member.signingKey == signingKey
    else { throw .unlistedSlot(slot.number) }
    return member
  }
}

extension KeychainError {
  package static func damagedMembers(_ reason: String) -> Self {
    Self(
      .damaged, "the list of members is damaged: \(reason)", recovery: .restoreBackup)
  }

  package static func unlistedSlot(_ number: UInt32) -> Self {
    Self(
      .damaged, "slot \(number) opens nothing: the vault's signed list of members does not have it",
      recovery: "somebody put it into the file; restore a backup from before")
  }
}
