internal import ArgumentParser
internal import KeychainCredentials
internal import PrephirencesCommandLine

/// A command that only groups subcommands.
///
/// Without a subcommand it fails: a script whose line was cut off must not mistake the help for
/// success.
protocol KeychainCommandGroup: DocumentedCommand {
  /// The words after those that run the keychain's commands.
  static var groupWords: [String] { get }
}

extension KeychainCommandGroup {
  static var groupWords: [String] { [_commandName] }

  static var manual: CommonManual { KeychainManual.common }

  func run() throws { try requireCommand() }

  /// Reports that a command is missing, and fails.
  func requireCommand() throws {
    let context = KeychainCommandContext.current
    UserInterface(hostName: context.hostName)
      .reportMissingCommand([context.commandPath] + Self.groupWords)
    throw ExitCode(ExitCodes.usage)
  }
}
