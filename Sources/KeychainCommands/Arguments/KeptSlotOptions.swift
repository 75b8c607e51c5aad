internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault

/// The secrets whose slots also get the vault's new keys, in addition to the one that unlocks.
struct KeptSlotOptions: ParsableArguments {
  @Option(
    parsing: .unconditionalSingleValue,
    help: .init(
      "Keep the passphrase read from a file descriptor; may be repeated", valueName: "number"))
  var keepPassphraseFd: [Int32] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("Keep the passphrase in a file; may be repeated", valueName: "path"),
    completion: .file())
  var keepPassphraseFile: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("Keep a key file; may be repeated", valueName: "path"), completion: .file())
  var keepKeyFile: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("Keep the recovery code in a file; may be repeated", valueName: "path"),
    completion: .file())
  var keepRecoveryCodeFile: [String] = []

  @OptionGroup var recipients: KeptRecipientOptions

  /// Whether any slot should be kept.
  var isGiven: Bool {
    !keepPassphraseFd.isEmpty || !recipients.keepRecipient.isEmpty
      || [keepPassphraseFile, keepKeyFile, keepRecoveryCodeFile].contains { !$0.isEmpty }
  }

  func validate() throws {
    guard keepPassphraseFd.allSatisfy({ $0 >= 0 }) else {
      throw ValidationError(UsageText.descriptor("--keep-passphrase-fd"))
    }
    guard Set(keepPassphraseFd).count == keepPassphraseFd.count else {
      throw ValidationError(UsageText.keptDescriptorTwice)
    }
  }

  /// Fails if a descriptor of a kept passphrase is also the one that unlocks.
  func validate(with common: CommonOptions) throws {
    if let descriptor = common.unlockDescriptor, keepPassphraseFd.contains(descriptor) {
      throw ValidationError(UsageText.keptDescriptorTwice)
    }
  }

  /// The sources in the order of the options' names.
  func sources() throws(KeychainError) -> [UnlockSource] {
    var sources: [UnlockSource] = []
    for number in keepPassphraseFd {
      let descriptor = try PassphraseDescriptor(inherited: number, option: "--keep-passphrase-fd")
      sources.append(
        .passphrase(named: "--keep-passphrase-fd") { () throws(KeychainError) in
          try descriptor.passphrase()
        })
    }
    sources += keepPassphraseFile.map { .passphraseFile($0, named: "--keep-passphrase-file") }
    sources += keepKeyFile.map { .keyFile($0, named: "--keep-key-file") }
    sources += keepRecoveryCodeFile.map {
      .recoveryCodeFile($0, named: "--keep-recovery-code-file")
    }
    return sources
  }
}
