internal import ArgumentParser
internal import KeychainCredentials

/// A command that does nothing but lead to those below it.
///
/// Named alone it fails: a script that lost the rest of its line must not take help for success.
protocol KeychainCommandGroup: ParsableCommand {}

extension KeychainCommandGroup {
  func run() throws { try requireCommand() }

  /// Says that a command is missing, and fails.
  func requireCommand() throws {
    let context = KeychainCommandContext.current
    let words = Self.self == KeychainCommand.self ? [] : [Self._commandName]
    UserInterface(hostName: context.hostName).reportMissingCommand([context.commandPath] + words)
    throw ExitCode(ExitCodes.usage)
  }
}
