package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The row with the list of members and the administration key, both sealed.
package struct MembersRow: Hashable, Sendable {
  /// The box of the list and its signature, under T0.
  package let list: Data

  /// The box of the administration key, under the root key.
  package let administration: Data

  package init(list: Data, administration: Data) {
    self.list = list
    self.administration = administration
  }

  /// Signs and seals a list, which names the hash of the administration key's box.
  package init(
    _ list: MemberList, signedBy key: AdministrationKey, administration: Data,
    open: borrowing SecretBytes
  ) throws(KeychainError) {
    guard list.isPossible, list.administration == key.publicKey,
      try list.administrationHash == Derivation.hash(administration, count: 32)
    else {
      throw KeychainError(.internalFailure, "a list of members was made that no reader accepts")
    }
    let fields = list.fields
    let signed = fields + (try key.sign(fields, label: "pk2/members"))
    let boxKey = try Derivation.key(open, "pk2/members.box")
    let plaintext = try translated(secrets: unsafe SecretBytes(copying: signed.span.bytes))
    self.init(
      list: try Sealing.seal(plaintext, with: boxKey), administration: administration)
  }

  /// Opens the list, and checks all of it: its signature, that it is of the head's vault, epoch and
  /// administration key, and that the successions are those that it names.
  package func opened(
    _ open: borrowing SecretBytes, head: HeadRow, successions: [SuccessionRow]
  ) throws(KeychainError) -> MemberList {
    let boxKey = try Derivation.key(open, "pk2/members.box")
    guard let plaintext = try Sealing.open(list, with: boxKey),
      plaintext.count > Signature.count
    else { throw .damagedMembers("it does not open") }
    let (fields, signature) = plaintext.withBytes { bytes in
      let end = bytes.byteCount - Signature.count
      return (
        bytes.extracting(0..<end).array, Data(bytes.extracting(end..<bytes.byteCount).array)
      )
    }
    guard
      Signing.isRight(
        signature, of: fields, label: "pk2/members", publicKey: head.administration)
    else { throw .damagedMembers("its signature is not the administration key's") }
    guard let list = unsafe MemberList(fields.span.bytes) else {
      throw .damagedMembers("it breaks the format")
    }
    guard list.id == head.id, list.epoch == head.epoch,
      list.administration == head.administration
    else { throw .damagedMembers("it is of another vault or an older epoch") }
    guard try list.administrationHash == Derivation.hash(administration, count: 32) else {
      throw .damagedMembers("the box of its administration key is not the one it names")
    }
    guard try SuccessionRow.hash(of: successions) == list.successions else {
      throw .damagedMembers("the successions of the administration key are not those it names")
    }
    try SuccessionRow.requireOrder(successions, head: head)
    return list
  }
}

extension MemberList {
  /// Returns the entry of a row; `nil` if the list does not have this row.
  package func entry(of slot: SlotRow) throws(KeychainError) -> Member? {
    let rowHash = try slot.rowHash()
    guard let member = member(slot.number), member.kind == slot.kind, member.grant == slot.grant,
      member.rowHash == rowHash
    else { return nil }
    return member
  }

  /// Returns the entry of a slot that was opened; fails if it isn't listed with this row and the
  /// keys that opened it.
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
      .damaged, "the vault's list of members is damaged: \(reason)", recovery: .restoreBackup)
  }

  package static func unlistedSlot(_ number: UInt32) -> Self {
    Self(
      .damaged, "slot \(number) opens nothing: the vault's signed list of members does not have it",
      recovery: "somebody put it into the file; restore a backup from before")
  }
}
