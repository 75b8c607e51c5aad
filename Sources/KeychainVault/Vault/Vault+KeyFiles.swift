internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

extension Vault {
  /// Returns which key files at hand hold a few readable words.
  ///
  /// Looked at are those that would unlock the vault: the explicit source, else the environment and the
  /// system's credentials. Key files are not stretched as passphrases are, so that such words are guessed fast
  /// by whoever has the vault. A file that cannot be read is left out: unlocking says what is the matter.
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

  /// Gives a notice of a key file that is about to get a slot, and is easily guessed.
  func tellIfWeak(_ contents: borrowing SecretBytes, _ name: String) {
    guard KeyFileText.isGuessable(contents) else { return }
    configuration.notice?(
      Notice(
        kind: .weakKeyFile,
        message: "the key file \(name) holds a few readable words: key files are not stretched as "
          + "passphrases are, so whoever has the vault guesses them fast",
        recovery: "better is one of random bytes, which \(.addSlot(.keyFile)) makes"))
  }
}
