public import ArgumentParser
internal import PrephirencesCommandLine

extension PreferenceCommandContext {
  /// The context of the commands that run in this task: the one that the program has set, otherwise
  /// that of its root command.
  public static var current: Self {
    if let given { return given }
    return CommandHost.current.root.map { Self($0) } ?? Self()
  }

  /// Creates the context of a host from its root command, which has the commands among its
  /// subcommands or theirs.
  ///
  /// - Parameters:
  ///   - root: The root command.
  ///   - defaultDomain: The domain if none is given; `nil` if it must be given.
  public init(_ root: any ParsableCommand.Type, defaultDomain: String? = nil) {
    let words = root.words(leadingTo: { $0 is any PreferenceSubcommand.Type })
    self.init(
      hostName: root._commandName, commandPath: words?.joined(separator: " "),
      defaultDomain: defaultDomain)
  }
}
