internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault

/// Where a passphrase comes from that a command gives the vault, beside the one that unlocks.
struct NewPassphraseOptions: ParsableArguments {
  @Option(help: .init("Read the new passphrase from a file descriptor", valueName: "number"))
  var newPassphraseFd: Int32?

  @Option(
    help: .init("Read the new passphrase from a file", valueName: "path"), completion: .file())
  var newPassphraseFile: String?

  func validate() throws {
    guard newPassphraseFd == nil || newPassphraseFile == nil else {
      throw ValidationError(UserInterface.Usage.oneNewPassphrase)
    }
    if let newPassphraseFd, newPassphraseFd < 0 {
      throw ValidationError(UserInterface.Usage.descriptor("--new-passphrase-fd"))
    }
  }

  var isGiven: Bool { newPassphraseFd != nil || newPassphraseFile != nil }

  /// The passphrase from where the options say, else from the person; an empty one is refused.
  func passphrase(in session: Session) throws(KeychainError) -> SecretBytes {
    let passphrase = try anyPassphrase(in: session)
    guard passphrase.count > 0 else { throw .emptyPassphrase }
    return passphrase
  }

  private func anyPassphrase(in session: Session) throws(KeychainError) -> SecretBytes {
    if let newPassphraseFd {
      return try PassphraseDescriptor(inherited: newPassphraseFd, option: "--new-passphrase-fd")
        .passphrase()
    }
    if let newPassphraseFile {
      return try ProtectedFile(
        path: newPassphraseFile, readers: session.vault.secretFileReaders()
      ).passphrase(named: "--new-passphrase-file")
    }
    return try session.askTwice(for: .newPassphrase)
  }
}
