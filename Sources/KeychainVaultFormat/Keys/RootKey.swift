package import KeychainCredentials
package import KeychainSecrets

/// Root keys.
package enum RootKey {
  package static func random() throws(KeychainError) -> SecretBytes {
    try translated(secrets: SecretBytes.random(count: 32))
  }
}
