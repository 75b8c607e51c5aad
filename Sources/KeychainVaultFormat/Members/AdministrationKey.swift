package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The key that signs the list of members.
///
/// It survives a new root key, and changes when an administrator leaves.
package struct AdministrationKey: Sendable {
  private let seed: SharedSecret
  package let publicKey: Data

  private init(seed: consuming SecretBytes) throws(KeychainError) {
    publicKey = try translated(secrets: Data(Signature.publicKey(of: seed)))
    self.seed = SharedSecret(seed)
  }

  package static func random() throws(KeychainError) -> AdministrationKey {
    try AdministrationKey(
      seed: translated(secrets: SecretBytes.random(count: Signature.seedCount)))
  }

  /// Creates the key of a seed that is known, for test vectors.
  package init(knownSeed seed: consuming SecretBytes) throws(KeychainError) {
    try self.init(seed: seed)
  }

  /// Opens the box of the seed with the root key; fails if it is damaged or not the key `expected`.
  package init(
    box: Data, root: borrowing SecretBytes, expected: Data
  ) throws(KeychainError) {
    let key = try Derivation.key(root, "pk3/admin")
    guard let seed = try Sealing.open(box, with: key), seed.count == Signature.seedCount else {
      throw .damagedMembers("its administration key does not open")
    }
    try self.init(seed: seed)
    guard publicKey == expected else {
      throw .damagedMembers("its administration key is another one than its head names")
    }
  }

  /// Seals the seed under a root key.
  package func sealed(under root: borrowing SecretBytes) throws(KeychainError) -> Data {
    try Sealing.seal(seed.bytes, with: try Derivation.key(root, "pk3/admin"))
  }

  package func sign(_ message: [UInt8], label: String) throws(KeychainError) -> Data {
    try Signing.sign(message, label: label, seed: seed.bytes)
  }
}
