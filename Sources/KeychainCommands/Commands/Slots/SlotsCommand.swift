internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault

/// The ways to open the vault.
struct SlotsCommand: KeychainCommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "slots",
    abstract: "List, add and remove what opens the vault",
    subcommands: [SlotsListCommand.self, SlotsAddCommand.self, SlotsRemoveCommand.self])
}

/// Lists what opens the vault.
struct SlotsListCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List what opens the vault",
    usage: usage("slots list [<options>]"),
    discussion: """
      Each slot with its number, its kind, what it opens and, of a passphrase, the cost of its \
      hash. In a pipe the fields are separated by tabs.

      Example:
        \(keychainPath) slots list
      """,
    aliases: ["ls"])

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    let slots = try session.vault.slots()
    if json { return try StandardOutput.write(try JSONText.text(slots.map(SlotJSON.init))) }
    let table = UserInterface.table(
      slots, deviceKeyExists: try session.vault.status().hasDeviceSecret)
    try StandardOutput.write(StandardOutput.isTerminal ? table.columns : table.lines)
  }
}
