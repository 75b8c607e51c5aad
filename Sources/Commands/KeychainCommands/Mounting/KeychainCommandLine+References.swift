package import ArgumentParser
package import KeychainCredentials
package import KeychainSecrets
internal import PrephirencesCommandLine

extension KeychainCommandLine {
  /// Returns the secret that a reference names, for another part of the program.
  ///
  /// Nobody is asked for anything, as it may be needed at any time.
  ///
  /// - Parameters:
  ///   - text: The reference.
  ///   - root: The program's root command.
  /// - Returns: The secret.
  /// - Throws: ``/KeychainCredentials/KeychainError``.
  package static func secret(
    at text: String, in root: any ParsableCommand.Type
  ) throws(KeychainError) -> SecretBytes {
    let reference = try CredentialReference(text)
    let options: CommonOptions
    let stores: StoreOptions
    do {
      options = try CommonOptions.parse(["--no-prompt"])
      stores = try StoreOptions.parse([])
    } catch {
      throw KeychainError(.internalFailure, "the options of the keychain cannot be set")
    }
    let session = try Session(
      options, stores: stores, context: KeychainCommandContext(root), asking: Asking())
    return try session.resolver().resolve(reference)
  }
}
