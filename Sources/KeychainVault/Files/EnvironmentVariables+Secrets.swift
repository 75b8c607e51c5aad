internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesFiles

extension EnvironmentVariables {
  /// Returns the value of a variable that holds a secret, copied once, into guarded memory.
  func secret(_ name: String) throws(KeychainError) -> SecretBytes? {
    do throws(SecretsError) {
      return try withBytes(of: name) { bytes throws(SecretsError) in
        try SecretBytes(copying: bytes)
      }
    } catch {
      throw KeychainError(error)
    }
  }
}
