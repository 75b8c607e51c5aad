package import Foundation
package import KeychainCredentials

/// A slot as the list of members has it.
package struct Member: Hashable, Sendable {
  package let number: UInt32

  /// The kind; `nil` if this release does not know it.
  package var kind: SlotKind? { SlotKind(rawValue: kindNumber) }

  /// What the slot grants; `nil` if this release does not know it.
  package var grant: SlotGrant? { SlotGrant(rawValue: grantNumber) }

  package let kindNumber: UInt8
  package let grantNumber: UInt8

  /// The hash of the slot.
  package let slotHash: Data

  /// The public key to which new keys are sealed.
  package let boxKey: Data

  /// The public key that checks the slot's signatures; empty for slots that sign nothing.
  package let signingKey: Data

  /// What people call the slot; often empty.
  package let name: String

  package static let maximumNameCount = 256

  package init(
    number: UInt32, kindNumber: UInt8, grantNumber: UInt8, slotHash: Data, boxKey: Data,
    signingKey: Data, name: String
  ) {
    self.number = number
    self.kindNumber = kindNumber
    self.grantNumber = grantNumber
    self.slotHash = slotHash
    self.boxKey = boxKey
    self.signingKey = signingKey
    self.name = name
  }

  /// The entry of a slot.
  package init(
    _ slot: SlotRow, boxKey: Data, signingKey: Data, name: String
  ) throws(KeychainError) {
    self.init(
      number: slot.number, kindNumber: slot.kind.rawValue, grantNumber: slot.grant.rawValue,
      slotHash: try slot.hash(), boxKey: boxKey, signingKey: signingKey, name: name)
  }

  /// The recipient whose identity opens the slot; `nil` for other kinds.
  package var recipient: VaultRecipient? {
    kind == .recipient ? VaultRecipient(boxKey: boxKey, signingKey: signingKey) : nil
  }

  /// Whether its signature makes a commit of a shared vault count.
  package var writes: Bool { grant == .administers || grant == .readsAndWrites }
}
