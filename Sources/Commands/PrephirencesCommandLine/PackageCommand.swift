package import ArgumentParser
internal import PrephirencesSystem

/// A command of this package: it does not use the commands above it, and its help has examples.
package protocol PackageCommand: DocumentedCommand {
  /// The name of the command, or a group above one, on the quick path; `nil` if it is not on it.
  static var quickName: String? { get }

  /// Whether the words after `--` are another program's command line, with any bytes.
  static var passesWordsOn: Bool { get }

  /// Reads the arguments after the command's name, or returns `nil` if the parser must.
  static func parsedQuickly(_ arguments: ArraySlice<String>) -> (any ParsableCommand)?

  /// Returns what may be wrong with a command line, in addition to its message.
  static func usageHint(for message: String, hasUnknownDash: Bool) -> String?

  /// Returns what to type instead of another program's command line, or `nil`.
  ///
  /// If the line names no command, this may be a command that it could mean.
  static func otherUsage(_ arguments: [String], isNamed: Bool) -> OtherUsage?

  /// Returns what standard output must tell a program that called the command with a wrong line.
  static func reply(toWrongUsage arguments: [String]) -> String?

  /// Whether errors about the line repeat values and extra arguments, which may be secrets by
  /// mistake.
  static var showsValues: Bool { get }

  /// Whether a message reports an extra argument, which may be the value of an unknown option.
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

/// What to type instead of another program's command line.
package struct OtherUsage {
  /// What is wrong, or `nil` for the message of the argument parser.
  package let message: String?

  package let hint: String

  package init(_ message: String?, hint: String) {
    self.message = message
    self.hint = hint
  }
}

/// A command whose manual page has parts that the commands of a library share.
package protocol DocumentedCommand: ParsableCommand {
  /// The parts of the page that no command defines.
  static var manual: CommonManual { get }
}

/// The commands of this package that a program has mounted.
///
/// To find a conformance, the runtime searches all conformances of the program. Commands that are
/// known here are found by identity.
package enum MountedCommands {
  private struct Known {
    let type: any PackageCommand.Type
    let library: String
  }

  private static let known = PosixMutex<[Known]>([])

  /// Registers commands, for the definition of the group that has them.
  package static func list(
    _ commands: [any PackageCommand.Type], of library: String
  ) -> [any ParsableCommand.Type] {
    known.withLock { known in
      for command in commands { known.append(Known(type: command, library: library)) }
    }
    return commands.map { $0 }
  }

  /// Returns the type as a command of this package, or `nil` if its group has not been defined.
  static func command(_ type: any ParsableCommand.Type) -> (any PackageCommand.Type)? {
    find(type)?.type
  }

  /// Returns the library of a command, or `nil` if its group has not been defined.
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
  /// The definitions of this package's commands are not read: their examples are created once, and
  /// need the context that is not known yet.
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
