package import ArgumentParser

/// The way from a command line to a command without the argument parser.
///
/// Only success counts: what is unusual in any way goes to the parser, before anything is read,
/// asked or changed.
package enum QuickPath {
  /// Returns the command of a line; `nil` if the parser must read it.
  ///
  /// - Parameters:
  ///   - root: The root command of the program.
  ///   - arguments: The arguments, without the program's name.
  /// - Returns: The command, which has been checked.
  package static func command(
    _ root: any ParsableCommand.Type, _ arguments: [String]
  ) -> (any ParsableCommand)? {
    var groups = [root]
    for (index, word) in arguments.enumerated() {
      let group = groups[groups.count - 1]
      guard group.takesNoArguments, let (next, known) = subcommand(word, of: group)
      else { return nil }
      let rest = arguments[(index + 1)...]
      if let command = known?.parsedQuickly(rest) {
        do {
          // Last, as the parser checks again after `nil`, and a host's check may have effects.
          for group in groups { try group.validateEmpty() }
          return command
        } catch {
          return nil
        }
      }
      groups.append(next)
    }
    return nil
  }

  /// Finds the first subcommand of a name, as the parser does.
  private static func subcommand(
    _ word: String, of group: any ParsableCommand.Type
  ) -> (type: any ParsableCommand.Type, known: (any PackageCommand.Type)?)? {
    for command in group.configuration.subcommands {
      let known = MountedCommands.command(command)
      let names = known?.spellings ?? [command._commandName] + command.configuration.aliases
      if names.contains(word) { return (command, known) }
    }
    return nil
  }
}

extension ParsableCommand {
  /// Whether the command declares no arguments.
  ///
  /// The parser has no public list of them. Arguments are stored properties, so a type of size 0
  /// has none.
  static var takesNoArguments: Bool { MemoryLayout<Self>.size == 0 }

  /// Runs the command's own check, as the parser does before it runs a command below it.
  static func validateEmpty() throws {
    var command = Self()
    try command.validate()
  }
}
