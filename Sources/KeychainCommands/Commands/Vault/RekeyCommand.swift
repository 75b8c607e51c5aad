internal import ArgumentParser
internal import KeychainCredentials

/// Gives the vault new keys.
struct RekeyCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey",
    abstract: "Give the vault new keys, so that old ones no longer open it",
    discussion: """
      Everything is sealed again, in one step: a failure leaves the vault as it was. Do this when \
      somebody may have a copy of the vault and a passphrase, key or code that opened it once. \
      Such a copy still holds the secrets of its time; change these where they are used.

      The command keeps what unlocks the vault now, this machine's device key, and what --keep-… names; on \
      a terminal it asks for the other passphrases and for each recipient. It removes all other slots, and \
      credentials that are bound to other devices: it lists them, and asks on a terminal; elsewhere, add \
      --yes. If no passphrase, key file or recipient is kept, this machine's device key alone opens \
      everything afterwards. Compare each recipient with what 'identity show' prints where the identity \
      is: whoever once had the vault's keys can have restored one that was removed.

      Example:
        \(keychainPath) rekey
        \(keychainPath) rekey --passphrase-file f --keep-key-file ~/backup/vault.key --yes
        \(keychainPath) rekey --passphrase-file f --keep-recipient pkpub1-… --yes
      """)

  @OptionGroup(title: "What opens the vault afterwards") var kept: KeptSlotOptions

  @Flag(name: .shortAndLong, help: "Remove what is not kept, without asking")
  var yes = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func validate() throws { try kept.validate(with: common) }

  func perform(in session: Session) throws(KeychainError) {
    try session.rekey(keeping: kept, assumingYes: yes)
  }
}
