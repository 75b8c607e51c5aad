public import ArgumentParser
internal import PrephirencesCommandLine

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
    let words =
      root == KeychainCommand.self
      ? [KeychainCommand.name]
      : root.words(leadingTo: { $0 == KeychainCommand.self }).map { $0 + [KeychainCommand.name] }
    self.init(
      hostName: root._commandName, commandPath: words.map { Words.joined($0) },
      defaultService: defaultService, defaultVault: defaultVault)
  }
}
