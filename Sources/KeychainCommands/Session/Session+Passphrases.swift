internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault

// New passphrases, and those of exports: from where options say, otherwise from the person.
extension Session {
  /// A new passphrase of the vault; an empty one is refused.
  func newPassphrase(_ options: NewPassphraseOptions) throws(KeychainError) -> SecretBytes {
    let passphrase =
      if let given = try options.passphrase(for: vault) { given } else {
        try askTwice(for: .newPassphrase)
      }
    guard passphrase.count > 0 else { throw .emptyPassphrase }
    return passphrase
  }

  /// The passphrase of a new export; an empty one is refused.
  func newPassphraseOfExport(
    _ options: ExportPassphraseOptions
  ) throws(KeychainError) -> SecretBytes {
    let passphrase =
      if let given = try options.passphrase(for: vault) { given } else {
        try askTwice(for: .newExportPassphrase)
      }
    guard passphrase.count > 0 else { throw .emptyExportPassphrase }
    return passphrase
  }

  /// The passphrase of an export that exists.
  func passphraseOfExport(_ options: ExportPassphraseOptions) throws(KeychainError) -> SecretBytes {
    if let given = try options.passphrase(for: vault) { return given }
    return try ask(for: .exportPassphrase)
  }
}
