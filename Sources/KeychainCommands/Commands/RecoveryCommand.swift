internal import ArgumentParser

/// The codes on paper that open the vault.
struct RecoveryCommand: KeychainCommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "recovery",
    abstract: "Make a code on paper that opens the vault",
    subcommands: [RecoveryCreateCommand.self])
}
