package import Foundation
package import KeychainCredentials

/// The vault, epoch and administration key of a head, which slots are sealed for.
///
/// It exists before the head, whose bytes contain the slots.
package struct HeadIdentity: Hashable, Sendable {
  package let id: VaultID
  package let epoch: UInt64

  /// The public key that signs the list of members.
  package let administration: Data

  /// What every key must be bound to.
  package let binding: KeyBinding

  package static let greatestEpoch: UInt64 = 1 << 31

  package init(id: VaultID, epoch: UInt64, administration: Data) throws(KeychainError) {
    self.id = id
    self.epoch = epoch
    self.administration = administration
    binding = try KeyBinding(id: id, epoch: epoch, administration: administration)
  }

  /// The check of the vault, which people compare and identities are pinned to.
  package func check() throws(KeychainError) -> VaultCheck {
    try VaultCheck(id: id, administration: administration)
  }
}
