package import ArgumentParser

// Parses a few frequent commands without the argument parser, which builds the definitions of all
// arguments with their help, and asks the runtime for the conformances of each type: a quarter of
// the time of a 'get'. Only success counts: anything unusual goes to the parser, before anything is
// read, asked or changed.

/// A group of options, or a command, that can be read without the argument parser.
package protocol QuickArguments: ParsableArguments {
  /// Sets every property, and does nothing else; arguments without a name come after all options.
  ///
  /// Using a property that is not set stops the program; tests compare the result with the
  /// parser's. After any error, the parser reads the line.
  mutating func read(_ line: inout QuickLine) throws
}

/// A command that can be read without the argument parser; it has a ``PackageCommand/quickName``.
package protocol QuickCommand: PackageCommand, QuickArguments {}

extension QuickCommand {
  package static func parsedQuickly(_ arguments: ArraySlice<String>) -> (any ParsableCommand)? {
    var command = Self()
    var line = QuickLine(arguments)
    do {
      try command.read(&line)
      guard line.isTaken else { return nil }
      try command.validate()
      return command
    } catch {
      return nil
    }
  }
}

package enum QuickPath {
  /// Returns the checked command of a line without the program's name, or `nil` if the parser must
  /// read the line.
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
          // Last: the parser checks again after `nil`, and a host's check may have effects.
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

  /// Finds the first subcommand with a name, as the parser does.
  ///
  /// This package's commands without a quick name are skipped: their names differ from the quick
  /// ones, and reading them would build their help.
  private static func subcommand(
    _ word: String, of group: any ParsableCommand.Type
  ) -> (type: any ParsableCommand.Type, known: (any PackageCommand.Type)?)? {
    for command in group.configuration.subcommands {
      if let known = MountedCommands.command(command) {
        if known.quickName == word { return (command, known) }
      } else if command.names.contains(word) {
        return (command, nil)
      }
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

/// The words of a command line, which are taken one argument after the other.
///
/// Words that the parser might read differently are never taken: unknown options, help, `--`,
/// values that begin with a dash, repeated options that are not lists, and short options with an
/// attached value.
package struct QuickLine {
  /// The parser must read the line.
  package struct Declined: Error {}

  private let words: [String]
  private var taken: [Bool]

  init(_ words: ArraySlice<String>) {
    self.words = Array(words)
    taken = Array(repeating: false, count: words.count)
  }

  var isTaken: Bool { !taken.contains(false) }

  /// Takes a flag, and returns whether it is given.
  package mutating func flag(_ name: String, _ letter: String? = nil) throws -> Bool {
    var isGiven = false
    for index in words.indices where !taken[index] && isName(words[index], name, letter) {
      guard !isGiven else { throw Declined() }
      (isGiven, taken[index]) = (true, true)
    }
    return isGiven
  }

  /// Takes an option, or returns `nil` if it is not given.
  package mutating func option(_ name: String, _ letter: String? = nil) throws -> String? {
    let values = try options(name, letter)
    guard values.count < 2 else { throw Declined() }
    return values.first
  }

  /// Takes an option, and converts its text as the parser does; if that returns `nil` or fails, the
  /// parser reports why.
  package mutating func option<Value>(
    _ name: String, _ letter: String? = nil, as transform: (String) throws -> Value?
  ) throws -> Value? {
    guard let text = try option(name, letter) else { return nil }
    guard let value = try transform(text) else { throw Declined() }
    return value
  }

  /// Takes an option that may be repeated.
  package mutating func options(_ name: String, _ letter: String? = nil) throws -> [String] {
    let beginning = "--\(name)="
    var values: [String] = []
    for index in words.indices where !taken[index] {
      let word = words[index]
      if isName(word, name, letter) {
        guard index + 1 < words.count, !Self.isOption(words[index + 1]) else { throw Declined() }
        values.append(words[index + 1])
        (taken[index], taken[index + 1]) = (true, true)
      } else if word.utf8.starts(with: beginning.utf8) {
        let value = word.utf8.dropFirst(beginning.utf8.count)
        // A character that is not ASCII may combine with the equals sign into one for the parser.
        guard let first = value.first, first < 0x80 else { throw Declined() }
        values.append(String(Substring(value)))
        taken[index] = true
      }
    }
    return values
  }

  /// Takes the next argument without a name, or returns `nil`.
  package mutating func optionalArgument() -> String? {
    for index in words.indices where !taken[index] && !Self.isOption(words[index]) {
      taken[index] = true
      return words[index]
    }
    return nil
  }

  /// Takes an argument that must be given.
  package mutating func argument() throws -> String {
    guard let word = optionalArgument() else { throw Declined() }
    return word
  }

  /// Reads a group of options, and checks it.
  package mutating func group<Group: QuickArguments>(_ group: inout OptionGroup<Group>) throws {
    var options = Group()
    try options.read(&self)
    try options.validate()
    group.wrappedValue = options
  }

  private func isName(_ word: String, _ name: String, _ letter: String?) -> Bool {
    if let letter, word.utf8.elementsEqual("-\(letter)".utf8) { return true }
    return word.utf8.count == name.utf8.count + 2 && word.utf8.starts(with: "--".utf8)
      && word.utf8.dropFirst(2).elementsEqual(name.utf8)
  }

  /// Whether the parser does not accept a word as a value; a dash alone is one.
  private static func isOption(_ word: String) -> Bool {
    word.utf8.first == UInt8(ascii: "-") && word.utf8.count > 1
  }
}
