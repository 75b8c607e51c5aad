package import ArgumentParser

/// A command of this package: it does not use the commands above it, and its help has examples.
package protocol PackageCommand: DocumentedCommand {
  /// The name by which the quick path finds the command, or a group above one; `nil` if it does not.
  static var quickName: String? { get }

  /// Whether the words after `--` are the command line of another program, and may have any bytes.
  static var passesWordsOn: Bool { get }

  /// Reads the arguments after the words that name the command; `nil` if the parser must.
  static func parsedQuickly(_ arguments: ArraySlice<String>) -> (any ParsableCommand)?

  /// Says what may be wrong with a command line, besides what its message says.
  ///
  /// - Parameters:
  ///   - message: The sentence of the argument parser or of the command.
  ///   - hasUnknownDash: Whether an argument begins with a dash and is not an option.
  /// - Returns: A hint, which is shown before the one about help; `nil` for none.
  static func usageHint(for message: String, hasUnknownDash: Bool) -> String?

  /// Returns what to type instead of a command line that another program understands.
  ///
  /// - Parameters:
  ///   - arguments: The arguments before `--`, without the words that name a command.
  ///   - isNamed: Whether the line names this command; otherwise it names none, and the command is
  ///     one that it could name.
  /// - Returns: What is wrong, and what to type; `nil` if the line is none of another program.
  static func otherUsage(_ arguments: [String], isNamed: Bool) -> OtherUsage?

  /// Returns what standard output must say to the program that called the command with a wrong line.
  ///
  /// - Parameter arguments: The arguments after the words that name the command.
  /// - Returns: The text, with a newline; `nil` for nothing.
  static func reply(toWrongUsage arguments: [String]) -> String?

  /// Whether an argument too many is repeated in the error.
  static var showsExtraArguments: Bool { get }

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
  package static var showsExtraArguments: Bool { true }
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
