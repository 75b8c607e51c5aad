internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault

// New passphrases and passphrases of exports, from options or otherwise from the person.
extension Session {
  /// Returns a new passphrase of the vault; an empty one is refused.
  func newPassphrase(_ options: NewPassphraseOptions) throws(KeychainError) -> SecretBytes {
    let passphrase =
      if let given = try options.passphrase(for: vault, by: asking.deadline) { given } else {
        try askTwice(for: .newPassphrase)
      }
    guard passphrase.count > 0 else { throw .emptyPassphrase }
    return passphrase
  }

  /// Returns the passphrase of a new export; an empty one is refused.
  func newPassphraseOfExport(
    _ options: ExportPassphraseOptions
  ) throws(KeychainError) -> SecretBytes {
    let passphrase =
      if let given = try options.passphrase(for: vault, by: asking.deadline) { given } else {
        try askTwice(for: .newExportPassphrase)
      }
    guard passphrase.count > 0 else { throw .emptyExportPassphrase }
    return passphrase
  }

  /// Returns the passphrase of an existing export.
  func passphraseOfExport(_ options: ExportPassphraseOptions) throws(KeychainError) -> SecretBytes {
    if let given = try options.passphrase(for: vault, by: asking.deadline) { return given }
    return try ask(for: .exportPassphrase)
  }
}
