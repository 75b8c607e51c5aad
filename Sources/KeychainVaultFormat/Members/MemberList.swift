package import Foundation
package import KeychainCredentials

/// Whether one reader has a vault to himself, or members share it.
public enum VaultKind: UInt8, Hashable, Sendable, CaseIterable {
  /// A vault of one user. Whoever opens its indexes can make its states.
  case local = 0

  /// A vault of several members, whose states are signed by their writers.
  case shared = 1
}

/// A slot as the list of members has it.
package struct Member: Hashable, Sendable {
  package let number: UInt32

  /// The kind; `nil` if this release does not know it.
  package var kind: SlotKind? { SlotKind(rawValue: kindNumber) }

  /// What the slot grants; `nil` if this release does not know it.
  package var grant: SlotGrant? { SlotGrant(rawValue: grantNumber) }

  package let kindNumber: UInt8
  package let grantNumber: UInt8

  /// The hash of the slot's row.
  package let rowHash: Data

  /// The public key to which new keys are sealed.
  package let boxKey: Data

  /// The public key that checks the slot's signatures; empty for slots that sign nothing.
  package let signingKey: Data

  /// What people call the slot; often empty.
  package let name: String

  package static let maximumNameCount = 256

  package init(
    number: UInt32, kindNumber: UInt8, grantNumber: UInt8, rowHash: Data, boxKey: Data,
    signingKey: Data, name: String
  ) {
    self.number = number
    self.kindNumber = kindNumber
    self.grantNumber = grantNumber
    self.rowHash = rowHash
    self.boxKey = boxKey
    self.signingKey = signingKey
    self.name = name
  }

  /// The entry of a slot's row.
  package init(
    _ slot: SlotRow, boxKey: Data, signingKey: Data, name: String
  ) throws(KeychainError) {
    self.init(
      number: slot.number, kindNumber: slot.kind.rawValue, grantNumber: slot.grant.rawValue,
      rowHash: try slot.rowHash(), boxKey: boxKey, signingKey: signingKey, name: name)
  }

  /// The recipient whose identity opens the slot; `nil` for other kinds.
  package var recipient: VaultRecipient? {
    kind == .recipient ? VaultRecipient(boxKey: boxKey, signingKey: signingKey) : nil
  }

  /// Whether its signature makes a state of a shared vault count.
  package var writesStates: Bool { grant == .administers || grant == .readsAndWrites }
}

/// The list of everything that opens a vault, which the administration key signs.
package struct MemberList: Hashable, Sendable {
  package let id: VaultID
  package let epoch: UInt64
  package let administration: Data

  /// The hash of the box of the administration key.
  package let administrationHash: Data

  /// Counts the lists, through all epochs.
  package let serial: UInt64

  /// The number of the next slot.
  package let nextNumber: UInt32
  package let vaultKind: VaultKind

  /// The hash of all successions.
  package let successions: Data

  /// The slots, in the order of their numbers.
  package let members: [Member]

  package static let maximumCount = 32
  package static let maximumPassphraseCount = 8

  package init(
    id: VaultID, epoch: UInt64, administration: Data, administrationHash: Data, serial: UInt64,
    nextNumber: UInt32, vaultKind: VaultKind, successions: Data, members: [Member]
  ) {
    self.id = id
    self.epoch = epoch
    self.administration = administration
    self.administrationHash = administrationHash
    self.serial = serial
    self.nextNumber = nextNumber
    self.vaultKind = vaultKind
    self.successions = successions
    self.members = members.sorted { $0.number < $1.number }
  }

  package func member(_ number: UInt32) -> Member? { members.first { $0.number == number } }

  /// Whether a slot is of a kind or grant that this release does not know, so that it can't carry
  /// it.
  package var unknown: Member? { members.first { $0.kind == nil || $0.grant == nil } }

  package var hasPassphrase: Bool { members.contains { $0.kind == .passphrase } }

  /// Whether a device slot must be limited: that is the purpose of a passphrase or key file.
  package var cutsDevices: Bool { members.contains { $0.kind?.cutsDevices ?? false } }

  /// The signing key of the recovery code that is trusted when a succession is followed.
  package var recoveryKey: Data? { members.first { $0.kind == .recoveryCode }?.signingKey }

  /// `L`: the hash of the list.
  package func hash() throws(KeychainError) -> Data {
    try Derivation.hash("pk2/members.hash", fields)
  }

  /// The bytes that the administration key signs.
  package var fields: [UInt8] {
    FieldWriter.fields {
      $0.byteString(id.bytes)
      $0.integer(epoch)
      $0.byteString(administration)
      $0.byteString(administrationHash)
      $0.integer(serial)
      $0.integer(nextNumber)
      $0.integer(vaultKind.rawValue)
      $0.byteString(successions)
      $0.integer(UInt32(members.count))
      for member in members {
        $0.integer(member.number)
        $0.integer(member.kindNumber)
        $0.integer(member.grantNumber)
        $0.byteString(member.rowHash)
        $0.byteString(member.boxKey)
        $0.byteString(member.signingKey)
        $0.text(member.name)
      }
    }
  }
}
