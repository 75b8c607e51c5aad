internal import ArgumentParser
internal import KeychainCredentials
internal import PrephirencesCommandLine

/// Gives the vault new keys.
struct RekeyCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey",
    abstract: "Give the vault new keys, so that old ones no longer open it",
    discussion: """
      Everything is sealed again, in one step: a failure leaves the vault as it was. Do this when \
      somebody may have a copy of the vault and a passphrase, key or code that opened it once. \
      Such a copy still holds the secrets of its time; change these where they are used.

      Everything that opens the vault stays, and no secret of it is needed. The command lists it by name and \
      fingerprint: compare the fingerprints with what 'identity show' prints where the identities \
      are. It also lists what is lost, such as credentials that are bound to other devices, and asks on a \
      terminal; elsewhere, add --yes.

      The administration key, which signs the list of what opens the vault, stays as well, unless a slot that \
      administers is removed. Whoever once opened the vault with such a slot may know it: then use \
      --new-administration-key. The vault gets a new check, which pinned identities and other machines need, unless the recovery code opened the vault for \
      this: then they follow by themselves.

      Example:
        \(keychainPath) rekey
        \(keychainPath) rekey --remove 3 --passphrase-file f --yes
        \(keychainPath) rekey --new-administration-key --recovery-code-file code
      """)

  @Option(
    help: .init("Also remove a slot, as 'slots remove' does", valueName: "number"),
    completion: .slots)
  var remove: UInt32?

  @Flag(help: "Also give the vault a new administration key, and a new check")
  var newAdministrationKey = false

  @Flag(help: "Drop the credentials that do not open, after listing them")
  var dropDamaged = false

  @Flag(name: .shortAndLong, help: "Do not ask")
  var yes = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    try session.rekey(
      removing: remove, newAdministrationKey: newAdministrationKey, droppingDamaged: dropDamaged,
      assumingYes: yes)
  }
}
