package import KeychainCredentials
package import KeychainSecrets

extension ReferenceResolver {
  /// Reads what a reference names; a failure says what it is for.
  ///
  /// - Parameters:
  ///   - reference: The reference.
  ///   - name: The variable or file that gets it.
  /// - Returns: The bytes.
  /// - Throws: As `resolve(_:)`.
  package func resolve(
    _ reference: CredentialReference, for name: String
  ) throws(KeychainError) -> SecretBytes {
    do throws(KeychainError) {
      return try resolve(reference)
    } catch {
      throw error.located("'\(name)'")
    }
  }
}
