internal import KeychainCredentials
internal import KeychainSecrets

/// Root keys.
enum RootKey {
  static func random() throws(KeychainError) -> SecretBytes {
    do throws(SecretsError) {
      return try SecretBytes.random(count: 32)
    } catch {
      throw KeychainError(error)
    }
  }
}
