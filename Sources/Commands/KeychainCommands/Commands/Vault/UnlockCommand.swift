internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine

/// Unlocks the vault for the commands that follow.
struct UnlockCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock",
    abstract: "Unlock the vault for the commands that follow",
    usage: usage("unlock [<options>]"),
    discussion: """
      The vault stays unlocked while it is used, until 15 minutes pass without use, and 12 hours at \
      most; with --timeout, for that time, used or not, which is written with its unit (30s, 30m). The key lies in the kernel's keyring, not in a file. \
      Most containers deny that: there, give each command what unlocks the vault.

      A vault that was never seen here may ask for its check, if its administration key changed since its \
      passphrase or code was last given: compare the check with the page of the recovery code, or with \
      what 'status' shows where the vault is used.

      Example:
        \(keychainPath) unlock --timeout 1h
      """)

  @Option(
    help: .init("How long it stays unlocked: 90s, 30m, 8h", valueName: "time"),
    transform: DurationText.argument)
  var timeout: Duration?

  @Option(
    help: .init("The check of the vault, as a person compared it", valueName: "hex"),
    transform: VaultCheck.parsed)
  var check: VaultCheck?

  @OptionGroup(title: "Common options") var common: CommonOptions

  static func usageHint(for message: String, hasUnknownDash: Bool) -> String? {
    message.lowercased().contains("unexpected argument")
      ? "the passphrase is asked for, or read with --passphrase-file" : nil
  }

  func perform(in session: Session) throws(KeychainError) {
    if let check { session.vault.trust(check) }
    try session.vault.unlock(timeout: timeout)
  }
}
