internal import ArgumentParser

/// The ways to open the vault.
struct SlotsCommand: KeychainCommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "slots",
    abstract: "List, add and remove what opens the vault",
    subcommands: [SlotsListCommand.self, SlotsAddCommand.self, SlotsRemoveCommand.self])
}
