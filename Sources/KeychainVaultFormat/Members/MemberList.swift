package import Foundation
package import KeychainCredentials

/// Whether one reader has a vault to himself, or members share it.
public enum VaultKind: UInt8, Hashable, Sendable, CaseIterable {
  /// A vault of one user. Whoever has the key of a tier can change its items.
  case local = 0

  /// A vault of several members, whose changes are signed by their writers.
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

  /// The serial of the newest list that was made to accept a restored file; 0 if there was none.
  package let accepted: UInt64

  /// The number of the base that brought this list.
  package let first: UInt64

  /// The digest of the commit before ``first``.
  package let before: Data

  /// The number of the next slot.
  package let nextNumber: UInt32
  package let vaultKind: VaultKind

  /// The hash of all successions.
  package let successions: Data

  /// The slots, in the order of their numbers.
  package let members: [Member]

  package static let maximumCount = 32
  package static let maximumPassphraseCount = 8
  package static let greatestSerial: UInt64 = 1 << 48

  /// More commits than any vault has, so that numbers can be added without overflow.
  package static let greatestFirst: UInt64 = 1 << 62

  package init(
    id: VaultID, epoch: UInt64, administration: Data, administrationHash: Data, serial: UInt64,
    accepted: UInt64, first: UInt64, before: Data, nextNumber: UInt32, vaultKind: VaultKind,
    successions: Data, members: [Member]
  ) {
    self.id = id
    self.epoch = epoch
    self.administration = administration
    self.administrationHash = administrationHash
    self.serial = serial
    self.accepted = accepted
    self.first = first
    self.before = before
    self.nextNumber = nextNumber
    self.vaultKind = vaultKind
    self.successions = successions
    self.members = members.sorted { $0.number < $1.number }
  }

  /// Returns the list that follows this one, with the base `first` after the digest `before`.
  ///
  /// What is not given stays, and the serial rises by one.
  package func next(
    members: [Member], first: UInt64, before: Data, nextNumber: UInt32? = nil,
    epoch: UInt64? = nil, administration: Data? = nil, administrationHash: Data? = nil,
    successions: Data? = nil, serial: UInt64? = nil, accepted: UInt64? = nil
  ) -> MemberList {
    MemberList(
      id: id, epoch: epoch ?? self.epoch, administration: administration ?? self.administration,
      administrationHash: administrationHash ?? self.administrationHash,
      serial: serial ?? self.serial + 1, accepted: accepted ?? self.accepted, first: first,
      before: before, nextNumber: nextNumber ?? self.nextNumber, vaultKind: vaultKind,
      successions: successions ?? self.successions, members: members)
  }

  /// The numbers that commits under this list may have.
  package var numbers: ClosedRange<UInt64> {
    let first = min(first, Self.greatestFirst)
    return first...(first + (1 << 40))
  }

  package func member(_ number: UInt32) -> Member? { members.first { $0.number == number } }

  /// Whether a slot is of a kind or grant that this release does not know, so that it can't carry
  /// it.
  package var unknown: Member? { members.first { $0.kind == nil || $0.grant == nil } }

  package var hasPassphrase: Bool { members.contains { $0.kind == .passphrase } }

  /// Whether a device slot must be limited: that is the purpose of a passphrase or key file.
  package var cutsDevices: Bool { members.contains { $0.kind?.cutsDevices ?? false } }

  /// The signing key of the recovery code with the lowest number, which is trusted when a succession
  /// is followed.
  package var recoveryKey: Data? { members.first { $0.kind == .recoveryCode }?.signingKey }

  /// `L`: the hash of the list.
  package func hash() throws(KeychainError) -> Data { try Derivation.hash("pk3/list", fields) }

  /// The bytes that the administration key signs.
  package var fields: [UInt8] {
    FieldWriter.fields(capacity: 1024) {
      $0.append(id.bytes)
      $0.integer(epoch)
      $0.append(administration)
      $0.append(administrationHash)
      for number in [serial, accepted, first] { $0.integer(number) }
      $0.append(before)
      $0.integer(nextNumber)
      $0.integer(vaultKind.rawValue)
      $0.append(successions)
      $0.integer(UInt32(truncatingIfNeeded: members.count))
      for member in members {
        $0.integer(member.number)
        $0.integer(member.kindNumber)
        $0.integer(member.grantNumber)
        $0.append(member.slotHash)
        $0.append(member.boxKey)
        $0.optional(member.signingKey.isEmpty ? nil : member.signingKey) { $0.append($1) }
        $0.text(member.name)
      }
    }
  }
}
