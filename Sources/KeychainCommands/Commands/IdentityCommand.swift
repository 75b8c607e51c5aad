internal import ArgumentParser

/// The identities by which several people or services open one vault.
struct IdentityCommand: KeychainCommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "Make, show and pin identities, by which several share a vault",
    subcommands: [
      IdentityCreateCommand.self, IdentityShowCommand.self, IdentityPinCommand.self,
    ])
}
