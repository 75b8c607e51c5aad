internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesSystem

/// The source of a new passphrase of the vault, which is not the one that unlocks it.
struct NewPassphraseOptions: ParsableArguments {
  @Option(help: .init("Read the new passphrase from a file descriptor", valueName: "number"))
  var newPassphraseFd: Int32?

  @Option(
    help: .init("Read the new passphrase from a file", valueName: "path"), completion: .file())
  var newPassphraseFile: String?

  func validate() throws {
    guard newPassphraseFd == nil || newPassphraseFile == nil else {
      throw ValidationError(UsageText.oneNewPassphrase)
    }
    if let newPassphraseFd, newPassphraseFd < 0 {
      throw ValidationError(UsageText.descriptor("--new-passphrase-fd"))
    }
  }

  var isGiven: Bool { newPassphraseFd != nil || newPassphraseFile != nil }

  // `nil` if no option is given. The vault's configuration determines who may read the file.
  func passphrase(
    for vault: Vault, by deadline: Deadline?
  ) throws(KeychainError) -> SecretBytes? {
    if let newPassphraseFd {
      return try PassphraseDescriptor(
        inherited: newPassphraseFd, option: "--new-passphrase-fd", by: deadline
      ).passphrase()
    }
    guard let newPassphraseFile else { return nil }
    return try ProtectedFile(
      path: newPassphraseFile, readers: vault.secretFileReaders(), by: deadline
    )
    .passphrase(named: "--new-passphrase-file")
  }
}
