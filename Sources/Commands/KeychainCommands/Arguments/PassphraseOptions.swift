internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesSystem

/// A passphrase from a descriptor or a file.
struct PassphraseSource {
  let descriptor: Int32?
  let file: String?

  /// The common part of the options, such as `--new-passphrase`.
  let option: String

  var isGiven: Bool { descriptor != nil || file != nil }

  /// Checks that at most one of the options is given.
  func validate() throws {
    guard descriptor == nil || file == nil else {
      throw ValidationError("only one of \(option)-fd and \(option)-file can be given")
    }
    if let descriptor, descriptor < 0 {
      throw ValidationError(UsageText.descriptor("\(option)-fd"))
    }
  }

  // Returns `nil` if no option is given. The vault's configuration decides who may read the file.
  func passphrase(
    readers: SecretFileReaders, by deadline: Deadline?
  ) throws(KeychainError) -> SecretBytes? {
    if let descriptor {
      return try PassphraseDescriptor(inherited: descriptor, option: "\(option)-fd", by: deadline)
        .passphrase()
    }
    guard let file else { return nil }
    return try ProtectedFile(path: file, readers: readers, by: deadline)
      .passphrase(named: "\(option)-file")
  }
}

/// The source of the vault's new passphrase, not of the one that unlocks it.
struct NewPassphraseOptions: ParsableArguments {
  @Option(help: .init("Read the new passphrase from a file descriptor", valueName: "number"))
  var newPassphraseFd: Int32?

  @Option(
    help: .init("Read the new passphrase from a file", valueName: "path"), completion: .file())
  var newPassphraseFile: String?

  var source: PassphraseSource {
    PassphraseSource(
      descriptor: newPassphraseFd, file: newPassphraseFile, option: "--new-passphrase")
  }

  var isGiven: Bool { source.isGiven }

  func validate() throws { try source.validate() }
}

/// The source of an export's passphrase, not of the one that unlocks the vault.
struct ExportPassphraseOptions: ParsableArguments {
  @Option(
    help: .init("Read the passphrase of the export from a file descriptor", valueName: "number"))
  var exportPassphraseFd: Int32?

  @Option(
    help: .init("Read the passphrase of the export from a file", valueName: "path"),
    completion: .file())
  var exportPassphraseFile: String?

  var source: PassphraseSource {
    PassphraseSource(
      descriptor: exportPassphraseFd, file: exportPassphraseFile, option: "--export-passphrase")
  }

  func validate() throws { try source.validate() }

  /// Checks that no descriptor is used twice.
  func requireOwnDescriptor(_ others: [Int32?]) throws {
    guard let exportPassphraseFd else { return }
    guard !others.contains(exportPassphraseFd) else {
      throw ValidationError(UsageText.exportDescriptorTwice)
    }
  }
}

/// The key file that will open the vault, not the one that unlocks it now.
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
  /// A new key file is created first. It is removed again if `body` certainly changed nothing.
  func withKeyFile<Result>(
    readers: SecretFileReaders, _ body: (String?) throws -> Result
  ) throws -> Result {
    guard let newKeyFile else { return try body(withKeyFile) }
    let key = try SecretBytes.random(count: 32)
    try key.write(toNewFile: newKeyFile, readers: readers)
    do {
      return try body(newKeyFile)
    } catch let error as KeychainError {
      throw error.removing(newKeyFile)
    }
  }
}

extension VaultRecipient {
  init(argument text: String) throws {
    do throws(KeychainError) {
      self = try VaultRecipient(text: text)
    } catch {
      throw ValidationError(error.message)
    }
  }
}
