internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine

/// Makes the vault's file anew.
struct CompactCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Remove from the vault's file what was replaced or deleted",
    usage: usage("compact [<options>]"),
    discussion: """
      What is replaced or deleted stays in the file, sealed, until the file is made anew: at once in vaults \
      of less than 1 MiB, else when the file has grown, or by this command. Backups and copies that were \
      made before still have it.

      With --drop, credentials go that 'verify' names by their id, also those that do not open.

      Example:
        \(keychainPath) compact
        \(keychainPath) compact --drop 0123456789ab
      """)

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("Also delete the item with this id; may be repeated", valueName: "id"))
  var drop: [String] = []

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    try session.vault.compact(dropping: drop)
  }
}
