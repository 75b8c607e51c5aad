public import ArgumentParser

extension KeychainCommandContext {
  /// Creates the context of a host from its root command, which has ``KeychainCommand`` among its
  /// subcommands or theirs.
  ///
  /// - Parameters:
  ///   - root: The root command.
  ///   - defaultService: The service of a credential if none is given.
  ///   - defaultVault: The path of the vault if none is given; `nil` for the usual one.
  public init(
    _ root: any ParsableCommand.Type, defaultService: String = "default",
    defaultVault: String? = nil
  ) {
    let words = root.wordsLeadingToKeychain
    self.init(
      hostName: root._commandName, commandPath: words?.joined(separator: " "),
      defaultService: defaultService, defaultVault: defaultVault)
  }
}

extension ParsableCommand {
  /// The names of the commands from this one to the keychain's; `nil` if that is not below it.
  fileprivate static var wordsLeadingToKeychain: [String]? {
    // Its configuration has examples, which are created once, in the context that is not known yet.
    if self == KeychainCommand.self { return [KeychainCommand.name] }
    for subcommand in configuration.subcommands {
      if let words = subcommand.wordsLeadingToKeychain { return [_commandName] + words }
    }
    return nil
  }
}
