package import KeychainCredentials
package import KeychainSecrets

/// Root keys.
package enum RootKey {
  package static func random() throws(KeychainError) -> SecretBytes {
    do throws(SecretsError) {
      return try SecretBytes.random(count: 32)
    } catch {
      throw KeychainError(error)
    }
  }
}
