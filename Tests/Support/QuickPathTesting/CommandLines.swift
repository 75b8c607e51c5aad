package import PrephirencesCommandLine

/// Command lines with the arguments of a command, most of which are valid.
package struct CommandLines {
  private let words: [String]
  private let definitions: [QuickDefinition]
  private let values: [String: [String]]
  private var random: RandomNumbers

  /// Prepares the lines.
  ///
  /// - Parameters:
  ///   - words: The words that name the command.
  ///   - definitions: What it takes.
  ///   - values: Valid values of options and arguments, by their names.
  ///   - random: The numbers that choose.
  package init(
    words: [String], _ definitions: [QuickDefinition], values: [String: [String]],
    _ random: RandomNumbers
  ) {
    self.words = words
    self.definitions = definitions
    self.values = values
    self.random = random
  }

  /// What is unusual on a command line, or in the place of a value.
  private static let oddities = [
    "", "-", "--", "---", "-x", "-1", "--json", "--quiet", "-q", "--help", "-h", "-help",
    "--version",
    "--help-hidden", "--unknown", "--service", "-s", "-sx", "-s=x", "-qy", "--quiet=1", "--label=",
    "--label==", "--label=-x", "--label=\u{301}", "-\u{301}", "\u{2010}x", "=", "a=b", "=b", "help",
    "version", "get", "keychain", "ü", "u\u{308}", "\u{212a}", "a b", "\n", "\r\n", "'", "\\", "+5",
    "007", "99999999999999999999", "nil", "--Service", "--serv", "-int", "-array", "--array",
    "---completion", "--generate-completion-script", "--experimental-dump-help",
    "\u{1f468}\u{200d}",
  ]

  /// Returns the next line.
  package mutating func next() -> [String] {
    var line: [[String]] = []
    var rest: [String] = []
    for definition in definitions {
      switch definition.kind {
      case .argument: if !random.isOne(in: 40) { line.append([value(of: definition)]) }
      case .optionalArgument: if !random.isOne(in: 3) { line.append([value(of: definition)]) }
      case .arguments:
        while random.isOne(in: 3) { line.append([value(of: definition)]) }
      case .passedOn:
        rest = random.isOne(in: 9) ? [] : ["--", "env", oddity(), value(of: definition)]
      case .flag: if random.isOne(in: 9) { line.append([name(of: definition)]) }
      case .option: if random.isOne(in: 9) { line.append(given(definition)) }
      case .options: while random.isOne(in: 4) { line.append(given(definition)) }
      case .parserOnly: if random.isOne(in: 99) { line.append(["-" + definition.name]) }
      }
    }
    if random.isOne(in: 3) { line.shuffle(using: &random) }
    var arguments = line.flatMap(\.self)
    if random.isOne(in: 5) { spoil(&arguments) }
    return words + arguments + rest
  }

  private mutating func given(_ definition: QuickDefinition) -> [String] {
    let value = value(of: definition)
    if random.isOne(in: 4) { return ["--\(definition.name)=\(value)"] }
    return [name(of: definition), value]
  }

  private mutating func name(of definition: QuickDefinition) -> String {
    if let letter = definition.letter, Bool.random(using: &random) { return "-\(letter)" }
    return "--\(definition.name)"
  }

  private mutating func value(of definition: QuickDefinition) -> String {
    if random.isOne(in: 40) { return oddity() }
    return (values[definition.name] ?? ["x", "name"]).randomElement(using: &random) ?? ""
  }

  private mutating func oddity() -> String {
    Self.oddities.randomElement(using: &random) ?? ""
  }

  /// Adds, repeats or removes an argument.
  private mutating func spoil(_ arguments: inout [String]) {
    let place = Int.random(in: 0...arguments.count, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0 where place < arguments.count: arguments.remove(at: place)
    case 1 where place < arguments.count: arguments.insert(arguments[place], at: place)
    default: arguments.insert(oddity(), at: place)
    }
  }
}
