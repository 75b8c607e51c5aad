internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault

/// Where the passphrase of an export comes from, beside the one that unlocks the vault.
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
      throw ValidationError(UserInterface.Usage.oneExportPassphrase)
    }
    if let exportPassphraseFd, exportPassphraseFd < 0 {
      throw ValidationError(UserInterface.Usage.descriptor("--export-passphrase-fd"))
    }
  }

  /// Checks that no descriptor is to be read for two things.
  func requireOwnDescriptor(_ others: [Int32?]) throws {
    guard let exportPassphraseFd else { return }
    guard !others.contains(exportPassphraseFd) else {
      throw ValidationError(UserInterface.Usage.exportDescriptorTwice)
    }
  }

  /// The passphrase of a new export, from where the options say, else from the person; an empty one is
  /// refused.
  func newPassphrase(in session: Session) throws(KeychainError) -> SecretBytes {
    let passphrase =
      if let given = try given(session) { given } else {
        try session.askTwice(for: .newExportPassphrase)
      }
    guard passphrase.count > 0 else { throw .emptyExportPassphrase }
    return passphrase
  }

  /// The passphrase of an export that is there.
  func passphrase(in session: Session) throws(KeychainError) -> SecretBytes {
    if let given = try given(session) { return given }
    return try session.ask(for: .exportPassphrase)
  }

  private func given(_ session: Session) throws(KeychainError) -> SecretBytes? {
    if let exportPassphraseFd {
      return try PassphraseDescriptor(
        inherited: exportPassphraseFd, option: "--export-passphrase-fd"
      ).passphrase()
    }
    guard let exportPassphraseFile else { return nil }
    return try ProtectedFile(
      path: exportPassphraseFile, readers: session.vault.secretFileReaders()
    ).passphrase(named: "--export-passphrase-file")
  }
}
