package import ArgumentParser

/// A group of options, or a command, that can be read without the argument parser.
///
/// The parser builds the definitions of all arguments with their help, and asks the runtime for the
/// conformances of each type, which takes most of the time of a short command.
package protocol QuickArguments: ParsableArguments {
  /// Sets every property, in the order of the declarations.
  ///
  /// It is called twice: the first time, the line has no values, and learns what the arguments are.
  /// A property that is not set stops the program when it is used; a test compares the calls with
  /// the parser's definitions. The function reads and changes nothing else.
  ///
  /// - Parameter line: The line, which gives the value of each argument.
  /// - Throws: ``QuickLine/Declined``, or any other error: the parser then reads the line.
  mutating func read(_ line: inout QuickLine) throws
}

/// A command that can be read without the argument parser.
package protocol QuickCommand: PackageCommand, QuickArguments {}

extension QuickCommand {
  package static func parsedQuickly(_ arguments: ArraySlice<String>) -> (any ParsableCommand)? {
    var command = Self()
    var line = QuickLine()
    do {
      try command.read(&line)
      try line.take(arguments)
      try command.read(&line)
      try command.validate()
      return command
    } catch {
      return nil
    }
  }

  /// What the command takes, as the quick path knows it.
  package static func quickDefinitions() throws -> [QuickDefinition] {
    var command = Self()
    var line = QuickLine()
    try command.read(&line)
    return line.definitions
  }
}
