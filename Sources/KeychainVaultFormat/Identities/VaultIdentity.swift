internal import Foundation
internal import KeychainCredentials
package import KeychainSecrets

/// A key pair that opens the vaults which have a slot for its public half.
package struct VaultIdentity: ~Copyable, Sendable {
  package static let prefix = "pksec1-"
  package static let sumCount = 3

  package let privateKey: SecretBytes
  package let recipient: VaultRecipient

  package init(privateKey: consuming SecretBytes) throws(SecretsError) {
    recipient = VaultRecipient(publicKey: Data(try SealedBox.publicKey(of: privateKey)))
    self.privateKey = privateKey
  }

  package static func random() throws(SecretsError) -> VaultIdentity {
    try VaultIdentity(privateKey: SecretBytes.random(count: SealedBox.keyCount))
  }

  /// Reads the text of an identity.
  package init(text: RawSpan) throws(Text32.Fault) {
    let key = try Text32.key(
      text, after: Self.prefix, count: SealedBox.keyCount, sumCount: Self.sumCount)
    do throws(SecretsError) {
      try self.init(privateKey: key)
    } catch {
      throw .memory(error)
    }
  }

  /// Returns the text of the identity, which is as secret as its key.
  package borrowing func text() throws(SecretsError) -> SecretBytes {
    try Self.text(privateKey, prefix: Self.prefix)
  }

  /// Returns the text of a public or private key.
  package static func text(
    _ key: borrowing SecretBytes, prefix: String
  ) throws(SecretsError) -> SecretBytes {
    var buffer = try SecretBuffer()
    for byte in prefix.utf8 { try buffer.append(byte) }
    try Text32.append(key, sumCount: sumCount, .plain, to: &buffer)
    return try buffer.finish()
  }
}
