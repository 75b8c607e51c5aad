package import ArgumentParser

extension ParsableCommand {
  /// Finds where a certain command is mounted.
  ///
  /// The definitions of the package's commands below are not looked at: they have examples, which
  /// are created once, in the context that is not known yet.
  ///
  /// - Parameter isMeant: Returns whether a command is the one.
  /// - Returns: The names from this command to the one that has it as a subcommand; `nil` if none has.
  package static func words(
    leadingTo isMeant: (any ParsableCommand.Type) -> Bool
  ) -> [String]? {
    for subcommand in configuration.subcommands {
      if isMeant(subcommand) { return [_commandName] }
      if subcommand.isOfPackage { continue }
      if let words = subcommand.words(leadingTo: isMeant) { return [_commandName] + words }
    }
    return nil
  }

  private static var isOfPackage: Bool {
    MountedCommands.command(self) != nil || self is any PackageCommand.Type
  }
}
