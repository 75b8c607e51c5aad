package import KeychainCredentials
package import KeychainSecrets

/// Key files: 32 bytes to 64 KiB, all of which count.
package enum KeyFile {
  package static let counts = 32...65536

  /// Returns the input key of a slot.
  package static func inputKey(_ contents: borrowing SecretBytes) throws(KeychainError)
    -> SecretBytes
  {
    do throws(SecretsError) {
      return try Blake2b.key(hashing: contents)
    } catch {
      throw KeychainError(error)
    }
  }
}
