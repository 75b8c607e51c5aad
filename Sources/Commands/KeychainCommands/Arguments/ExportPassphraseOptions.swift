internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesSystem

/// The source of an export's passphrase, which is not the one that unlocks the vault.
struct ExportPassphraseOptions: ParsableArguments {
  @Option(
    help: .init("Read the passphrase of the export from a file descriptor", valueName: "number"))
  var exportPassphraseFd: Int32?

  @Option(
    help: .init("Read the passphrase of the export from a file", valueName: "path"),
    completion: .file())
  var exportPassphraseFile: String?

  func validate() throws {
    guard exportPassphraseFd == nil || exportPassphraseFile == nil else {
      throw ValidationError(UsageText.oneExportPassphrase)
    }
    if let exportPassphraseFd, exportPassphraseFd < 0 {
      throw ValidationError(UsageText.descriptor("--export-passphrase-fd"))
    }
  }

  /// Whether one is given.
  var isGiven: Bool { exportPassphraseFd != nil || exportPassphraseFile != nil }

  /// Checks that no descriptor is used twice.
  func requireOwnDescriptor(_ others: [Int32?]) throws {
    guard let exportPassphraseFd else { return }
    guard !others.contains(exportPassphraseFd) else {
      throw ValidationError(UsageText.exportDescriptorTwice)
    }
  }

  // `nil` if no option is given. The vault's configuration determines who may read the file.
  func passphrase(
    for vault: Vault, by deadline: Deadline?
  ) throws(KeychainError) -> SecretBytes? {
    if let exportPassphraseFd {
      return try PassphraseDescriptor(
        inherited: exportPassphraseFd, option: "--export-passphrase-fd", by: deadline
      ).passphrase()
    }
    guard let exportPassphraseFile else { return nil }
    return try ProtectedFile(
      path: exportPassphraseFile, readers: vault.secretFileReaders(), by: deadline
    )
    .passphrase(named: "--export-passphrase-file")
  }
}
