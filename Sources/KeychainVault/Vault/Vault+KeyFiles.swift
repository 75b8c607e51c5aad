internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

extension Vault {
  /// Returns the key files at hand that hold only a few readable words.
  ///
  /// Examines the files that would unlock the vault: the explicit source, or else the environment
  /// and the system's credentials. Key files are not stretched as passphrases are, so whoever has
  /// the vault can guess such words fast. Unreadable files are skipped: unlocking reports them.
  ///
  /// - Returns: The names of the sources, such as `KEYCHAIN_KEY_FILE`.
  public func weakKeyFiles() -> [String] {
    keyFiles.filter { file in
      guard
        let contents = try? KeyFile.read(
          file.path, name: file.name, policy: configuration.secretFilePolicy)
      else { return false }
      return KeyFileText.isGuessable(contents)
    }.map(\.name)
  }

  private var keyFiles: [(name: String, path: String)] {
    if let source = configuration.unlock {
      guard case .keyFile(let path) = source.kind else { return [] }
      return [(source.name, path)]
    }
    return unlocker.sources.ambientKeyFiles
  }

  /// Reports a key file that is about to get a slot and is easily guessed.
  func reportIfWeak(_ contents: borrowing SecretBytes, _ name: String) {
    guard KeyFileText.isGuessable(contents) else { return }
    configuration.notice?(
      Notice(
        kind: .weakKeyFile,
        message:
          "the key file \(name) holds a few readable words, which whoever has the vault can guess "
          + "fast, because key files are not stretched as passphrases are",
        recovery: "use a file of random bytes, which \(.addSlot(.keyFile)) makes"))
  }
}
