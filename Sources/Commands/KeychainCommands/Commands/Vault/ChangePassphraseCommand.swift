internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine

/// Replaces a passphrase.
struct ChangePassphraseCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "change-passphrase",
    abstract: "Replace a passphrase by another",
    discussion: """
      The present passphrase is asked for first, also while the vault is unlocked. If it is forgotten, \
      type the recovery code instead, or unlock with something else, such as --key-file. Older copies of \
      the vault still open with the old passphrase; after 'rekey --new-administration-key', their keys are \
      worth nothing for this vault.

      Example:
        \(keychainPath) change-passphrase
        \(keychainPath) change-passphrase --key-file ~/backup/vault.key --slot 2
      """)

  @Option(
    help: .init(
      "The slot, as 'slots list' shows it (default: the one that the passphrase opens, or the only one)",
      valueName: "number"),
    completion: .passphraseSlots)
  var slot: UInt32?

  @OptionGroup(title: "The new passphrase") var newPassphrase: NewPassphraseOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  func validate() throws {
    if let descriptor = newPassphrase.newPassphraseFd, descriptor == common.unlockDescriptor {
      throw ValidationError(UsageText.descriptorTwice)
    }
  }

  func perform(in session: Session) throws(KeychainError) {
    // Checked before asking for the present passphrase.
    guard newPassphrase.isGiven || session.prompt != nil else {
      throw .nobodyToAsk(for: .newPassphrase)
    }
    let changed = try session.vault.changePassphrase(slot: slot) { _ throws(KeychainError) in
      try session.newPassphrase(newPassphrase)
    }
    session.interface.say(VaultText.changedPassphrase(changed))
    session.interface.hint(VaultText.copiesKeepThePassphrase)
  }
}
