internal import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// A key pair that opens the vaults which have a slot for its public half, and signs what its owner
/// writes into shared vaults.
///
/// Both of its keys follow from one seed.
package struct VaultIdentity: ~Copyable, Sendable {
  package static let prefix = "pksec2-"
  package static let sumCount = 3
  package static let seedCount = 32

  package let seed: SecretBytes
  package let keys: SlotKeys
  package let recipient: VaultRecipient

  package init(seed: consuming SecretBytes) throws(KeychainError) {
    let keys = try SlotKeys(
      boxSecret: try Derivation.key(seed, "pk2/ident.box"),
      signingSeed: try Derivation.key(seed, "pk2/ident.sign"))
    recipient = VaultRecipient(boxKey: keys.boxKey, signingKey: try keys.signingKey())
    self.keys = keys
    self.seed = seed
  }

  package static func random() throws(KeychainError) -> VaultIdentity {
    try VaultIdentity(seed: translated(secrets: SecretBytes.random(count: seedCount)))
  }

  /// Reads the seed in the text of an identity.
  package static func seed(text: RawSpan) throws(Text32.Fault) -> SecretBytes {
    try Text32.key(text, after: prefix, count: seedCount, sumCount: sumCount)
  }

  /// Returns the text of the identity, which is as secret as its seed.
  package borrowing func text() throws(SecretsError) -> SecretBytes {
    try Text32.text(seed, prefix: Self.prefix, sumCount: Self.sumCount)
  }
}
