package import ArgumentParser
internal import Glibc
package import PrephirencesCommandLine

/// Compares the quick path with the argument parser.
package enum QuickPathCheck {
  /// What is wrong with a line.
  package struct Difference: Error, CustomStringConvertible {
    package let description: String
  }

  /// Compares what both make of a command line.
  ///
  /// - Parameters:
  ///   - line: The command line.
  ///   - root: The root command.
  ///   - alone: The command and its arguments, which the parser reads without the commands above:
  ///     that is much faster, and another test compares both; `nil` for the whole line.
  /// - Returns: Whether the quick path takes the line.
  /// - Throws: ``Difference``, if it makes something else of it than the parser.
  package static func takes(
    _ line: [String], of root: any ParsableCommand.Type,
    alone: (type: any ParsableCommand.Type, wordCount: Int)? = nil
  ) throws(Difference) -> Bool {
    guard let quick = QuickPath.command(root, line) else { return false }
    let parsed: any ParsableCommand
    do {
      if let alone {
        parsed = try alone.type.parseAsRoot(Array(line.dropFirst(alone.wordCount)))
      } else {
        parsed = try root.parseAsRoot(line)
      }
    } catch {
      throw Difference(description: "\(line): the parser refuses: \(root.message(for: error))")
    }
    let (text, expected) = (dumped(quick), dumped(parsed))
    guard type(of: quick) == type(of: parsed), text == expected else {
      throw Difference(description: "\(line): \(text)\nparser: \(expected)")
    }
    return true
  }

  /// A command with all of its values.
  ///
  /// The parser leaves out the titles that groups of options have in help.
  package static func dumped(_ command: any ParsableCommand) -> String {
    var text = ""
    dump(command, to: &text)
    return text.split(separator: "\n").filter { !$0.contains("- title: ") }
      .joined(separator: "\n")
  }

  /// Returns how many of some lines are compared: all in a thorough run, else a seventh.
  ///
  /// In debug, the parser takes a hundredth of a second for a line.
  package static func lineCount(_ all: Int) -> Int {
    let isThorough = getenv("PREPHIRENCES_THOROUGH").map { String(cString: $0) } == "1"
    return isThorough ? all : all / 7
  }

  /// Compares a number of lines of some commands, and returns how many the quick path took.
  ///
  /// - Parameters:
  ///   - count: The number of lines.
  ///   - commands: The commands, with the words that name them from the root on.
  ///   - root: The root command.
  ///   - values: Valid values of options and arguments, by their names.
  ///   - seed: What the lines are made of.
  /// - Returns: The number.
  /// - Throws: ``Difference`` at the first line that both read differently.
  package static func taken(
    of count: Int, _ commands: [(words: [String], type: any QuickCommand.Type)],
    root: any ParsableCommand.Type, values: [String: [String]], seed: UInt64
  ) throws -> Int {
    var taken = 0
    for (index, command) in commands.enumerated() {
      var lines = CommandLines(
        words: command.words, try command.type.quickDefinitions(), values: values,
        RandomNumbers(seed: seed &* 1000 &+ UInt64(index)))
      for number in 0..<(count / commands.count) {
        let alone = number % 20 == 0 ? nil : (command.type, command.words.count)
        if try takes(lines.next(), of: root, alone: alone) { taken += 1 }
      }
    }
    return taken
  }
}
