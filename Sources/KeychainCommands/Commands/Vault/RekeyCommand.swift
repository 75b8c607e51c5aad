internal import ArgumentParser
internal import KeychainCredentials

/// Gives the vault new keys.
struct RekeyCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey",
    abstract: "Give the vault new keys, so that old ones open it no more",
    discussion: """
      Everything is sealed again, in one step: a failure leaves the vault as it was. Do this when \
      somebody may have a copy of the vault and a passphrase, key or code that opened it once. \
      Such a copy still holds the secrets of its time; change these where they are used.

      Kept are what unlocks the vault now, this machine's device key, and what is named by \
      --keep-…; on a terminal the other passphrases and each recipient are asked for. All other \
      slots go, and so do credentials that are bound to other devices: they are listed, and a yes \
      is asked for on a terminal; elsewhere --yes says it. If neither a passphrase, a key file nor a \
      recipient is kept, this machine's device key alone opens everything from then on. Compare each recipient with what \
      'identity show' prints where the identity is: whoever had the vault's keys once can have put \
      one back that was removed.

      Example:
        \(keychainPath) rekey
        \(keychainPath) rekey --passphrase-file f --keep-key-file ~/backup/vault.key --yes
        \(keychainPath) rekey --passphrase-file f --keep-recipient pkpub1-… --yes
      """)

  @OptionGroup(title: "What opens the vault from then on") var kept: KeptSlotOptions

  @Flag(name: .shortAndLong, help: "Let go what is not kept, without asking")
  var yes = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func validate() throws { try kept.validate(with: common) }

  func perform(in session: Session) throws(KeychainError) {
    try session.rekey(keeping: kept, assumingYes: yes)
  }
}
