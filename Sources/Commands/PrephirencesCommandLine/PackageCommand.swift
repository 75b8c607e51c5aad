package import ArgumentParser
internal import PrephirencesSystem

/// A command of this package: it does not use the commands above it, and its help has examples.
package protocol PackageCommand: DocumentedCommand {
  /// The name by which the quick path finds the command, or a group above one; `nil` if it does not.
  static var quickName: String? { get }

  /// Whether the words after `--` are the command line of another program, and may have any bytes.
  static var passesWordsOn: Bool { get }

  /// Reads the arguments after the words that name the command; `nil` if the parser must.
  static func parsedQuickly(_ arguments: ArraySlice<String>) -> (any ParsableCommand)?

  /// Says what may be wrong with a command line, besides what its message says.
  static func usageHint(for message: String, hasUnknownDash: Bool) -> String?

  /// Returns what to type instead of a command line that another program understands.
  ///
  /// `nil` if the line is none of another program. If the line names no command, this may be one that
  /// it could name.
  static func otherUsage(_ arguments: [String], isNamed: Bool) -> OtherUsage?

  /// Returns what standard output must say to the program that called the command with a wrong line.
  static func reply(toWrongUsage arguments: [String]) -> String?

  /// Whether errors about the line repeat values and arguments too many, which may be secrets by mistake.
  static var showsValues: Bool { get }

  /// Returns whether a message reports an argument too many, which may be the value of an unknown
  /// option.
  static func isAboutExtraArgument(_ message: String) -> Bool
}

extension PackageCommand {
  package static var quickName: String? { nil }
  package static var passesWordsOn: Bool { false }
  package static func parsedQuickly(_ arguments: ArraySlice<String>) -> (any ParsableCommand)? {
    nil
  }
  package static func usageHint(for message: String, hasUnknownDash: Bool) -> String? { nil }
  package static func otherUsage(_ arguments: [String], isNamed: Bool) -> OtherUsage? { nil }
  package static func reply(toWrongUsage arguments: [String]) -> String? { nil }
  package static var showsValues: Bool { true }
  package static func isAboutExtraArgument(_ message: String) -> Bool { false }
}

/// What to type instead of a command line that another program understands.
package struct OtherUsage {
  /// What is wrong; `nil` for the message of the argument parser.
  package let message: String?

  package let hint: String

  package init(_ message: String?, hint: String) {
    self.message = message
    self.hint = hint
  }
}

/// A command whose manual page has parts that the commands of a library share.
package protocol DocumentedCommand: ParsableCommand {
  /// The parts of the page that are in no command's definition.
  static var manual: CommonManual { get }
}

/// The commands of this package that a program has mounted.
///
/// Whether a type conforms to a protocol takes the runtime a search through all conformances of the
/// program. What is known here is found by its identity.
package enum MountedCommands {
  private struct Known {
    let type: any PackageCommand.Type
    let library: String
  }

  private static let known = PosixMutex<[Known]>([])

  /// Remembers commands, for the definition of the group that has them.
  package static func list(
    _ commands: [any PackageCommand.Type], of library: String
  ) -> [any ParsableCommand.Type] {
    known.withLock { known in
      for command in commands { known.append(Known(type: command, library: library)) }
    }
    return commands.map { $0 }
  }

  /// Returns the command of this package that a type is; `nil` if its group has not been defined.
  static func command(_ type: any ParsableCommand.Type) -> (any PackageCommand.Type)? {
    find(type)?.type
  }

  /// Returns the library of a command; `nil` if its group has not been defined.
  package static func library(of type: any ParsableCommand.Type) -> String? {
    find(type)?.library
  }

  private static func find(_ type: any ParsableCommand.Type) -> Known? {
    known.withLock { known in
      for command in known where command.type == type { return command }
      return nil
    }
  }
}

extension ParsableCommand {
  /// Finds where a certain command is mounted.
  ///
  /// The definitions of the package's commands below are not looked at: they have examples, which
  /// are created once, in the context that is not known yet.
  package static func words(leadingTo isMeant: (any ParsableCommand.Type) -> Bool) -> [String]? {
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
