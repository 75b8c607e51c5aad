package import Foundation
package import KeychainCredentials

/// Whether one reader has a vault to himself, or members share it.
public enum VaultKind: UInt8, Hashable, Sendable, CaseIterable {
  /// A vault of one user. Whoever opens its indexes can make its states.
  case local = 0

  /// A vault of several members, whose states are signed by their writers.
  case shared = 1
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
