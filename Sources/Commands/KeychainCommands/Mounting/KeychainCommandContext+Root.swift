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
    self.init(
      hostName: root._commandName, commandPath: Self.words(from: root).map { Words.joined($0) },
      defaultService: defaultService, defaultVault: defaultVault)
  }

  /// Returns the words that run the commands, with the root's name first; `nil` if the root does not
  /// have them.
  static func words(from root: any ParsableCommand.Type) -> [String]? {
    root == KeychainCommand.self
      ? [KeychainCommand.name]
      : root.words(leadingTo: { $0 == KeychainCommand.self }).map { $0 + [KeychainCommand.name] }
  }
}
