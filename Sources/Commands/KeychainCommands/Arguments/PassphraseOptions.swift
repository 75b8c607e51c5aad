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

/// The key file that will open the vault, which is not the one that unlocks it now.
struct NewKeyFileOptions: ParsableArguments {
  @Option(
    help: .init("Create a key file, and let it open the vault", valueName: "path"),
    completion: .file())
  var newKeyFile: String?

  @Option(
    help: .init("Let an existing key file open the vault", valueName: "path"),
    completion: .file())
  var withKeyFile: String?

  func validate() throws {
    guard newKeyFile == nil || withKeyFile == nil else {
      throw ValidationError(UsageText.oneKeyFile)
    }
  }

  var isGiven: Bool { newKeyFile != nil || withKeyFile != nil }

  /// Calls `body` with the path of the key file.
  ///
  /// A new key file is created first, and removed again if `body` surely changed nothing.
  func withKeyFile<Result>(
    readers: SecretFileReaders, _ body: (String?) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    guard let newKeyFile else { return try body(withKeyFile) }
    let key = try translated(secrets: SecretBytes.random(count: 32))
    try key.write(toNewFile: newKeyFile, readers: readers)
    do throws(KeychainError) {
      return try body(newKeyFile)
    } catch {
      throw error.removing(newKeyFile)
    }
  }
}

extension VaultRecipient {
  /// Reads an argument.
  init(argument text: String) throws {
    do throws(KeychainError) {
      self = try VaultRecipient(text: text)
    } catch {
      throw ValidationError(error.message)
    }
  }
}
