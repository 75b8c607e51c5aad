/// The arguments of one command, read without the argument parser.
///
/// It accepts what the parser accepts in one way only. Everything else is declined: unknown options,
/// help, `--` unless what follows is passed on, values that begin with a dash, options that are repeated without being lists, short
/// options with a value attached.
package struct QuickLine {
  /// Why the parser must read the line: it knows more.
  package struct Declined: Error {
    package init() {}
  }

  private(set) var definitions: [QuickDefinition] = []

  /// The values, by the index of the definition.
  private var found: [[String]] = []

  /// The definition that is read next; `nil` while the definitions are made.
  private var next: Int?

  init() {
    definitions.reserveCapacity(64)
  }

  /// Whether the values are not known yet.
  package var isDefining: Bool { next == nil }

  /// Defines an argument, or returns the values of one that was defined.
  mutating func values(
    _ kind: QuickDefinition.Kind, _ name: String, _ letter: String? = nil
  ) throws -> [String] {
    guard let index = next else {
      definitions.append(QuickDefinition(kind: kind, name: name, letter: letter))
      return []
    }
    guard index < found.count else { throw Declined() }
    next = index + 1
    return found[index]
  }

  /// Takes the arguments of a command line, whose values can be read then.
  mutating func take(_ arguments: ArraySlice<String>) throws {
    found = Array(repeating: [], count: definitions.count)
    next = 0
    var position = 0
    var index = arguments.startIndex
    while index < arguments.endIndex {
      let word = arguments[index]
      if word == "--" {
        try passOn(arguments[index...])
        break
      }
      index += 1
      guard Self.isOption(word) else {
        position = try place(word, from: position)
        continue
      }
      var attached: String?
      let definition = try option(of: word, &attached)
      switch definitions[definition].kind {
      case .flag:
        guard attached == nil, found[definition].isEmpty else { throw Declined() }
        found[definition] = [""]
      case .option, .options:
        if definitions[definition].kind == .option, !found[definition].isEmpty { throw Declined() }
        if let attached {
          found[definition].append(attached)
        } else {
          guard index < arguments.endIndex, !Self.isOption(arguments[index]) else {
            throw Declined()
          }
          found[definition].append(arguments[index])
          index += 1
        }
      case .parserOnly, .optionalArgument, .argument, .arguments, .passedOn: throw Declined()
      }
    }
    for (definition, values) in zip(definitions, found)
    where definition.kind == .argument && values.isEmpty {
      throw Declined()
    }
  }

  /// Gives `--` and the words after it to the command that passes them on.
  private mutating func passOn(_ words: ArraySlice<String>) throws {
    found[try index { $0.kind == .passedOn }] = Array(words)
  }

  /// Puts a word to the arguments without a name; returns the first of them that may take more.
  private mutating func place(_ word: String, from position: Int) throws -> Int {
    var position = position
    while position < definitions.count {
      let kind = definitions[position].kind
      // Without `--`, the parser finds the first of its words.
      if kind == .passedOn { throw Declined() }
      if kind.isPositional {
        found[position].append(word)
        return kind == .arguments ? position : position + 1
      }
      position += 1
    }
    throw Declined()
  }

  /// Finds the option that a word names, and the value that an equals sign attaches to it.
  private func option(of word: String, _ attached: inout String?) throws -> Int {
    let bytes = word.utf8
    let start = bytes.index(after: bytes.startIndex)
    guard bytes[start] == UInt8(ascii: "-") else {
      let letter = String(word[start...])
      return try index { $0.letter == letter }
    }
    var name = word[bytes.index(after: start)...]
    if let sign = name.utf8.firstIndex(of: UInt8(ascii: "=")) {
      let value = word[bytes.index(after: sign)...]
      // What is not ASCII may combine with the equals sign, which the parser sees as one character.
      guard let first = value.utf8.first, first < 0x80 else { throw Declined() }
      attached = String(value)
      name = name[..<sign]
    }
    return try index { !$0.kind.isPositional && $0.name == name }
  }

  private func index(where isMeant: (QuickDefinition) -> Bool) throws -> Int {
    guard let index = definitions.firstIndex(where: isMeant) else { throw Declined() }
    return index
  }

  /// Whether the parser does not take a word as a value; a dash alone is one.
  private static func isOption(_ word: String) -> Bool {
    word.utf8.first == UInt8(ascii: "-") && word.utf8.count > 1
  }
}
