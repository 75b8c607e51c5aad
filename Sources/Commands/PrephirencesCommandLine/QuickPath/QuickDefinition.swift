/// An argument that a command takes.
package struct QuickDefinition: Hashable, Sendable {
  /// How often an argument has a value.
  package enum Kind: Hashable, Sendable {
    /// An option without a value.
    case flag

    /// An option with one value.
    case option

    /// An option that may be repeated.
    case options

    /// An option that only the parser reads.
    case parserOnly

    /// An argument without a name, which may be missing.
    case optionalArgument

    /// An argument without a name.
    case argument

    /// The remaining arguments without a name.
    case arguments

    /// `--`, and all words after it, as a program takes its arguments.
    case passedOn

    /// Whether it has no name.
    var isPositional: Bool {
      switch self {
      case .flag, .option, .options, .parserOnly: false
      case .optionalArgument, .argument, .arguments, .passedOn: true
      }
    }
  }

  package let kind: Kind

  /// The name without its dashes; of an argument, what help calls it.
  package let name: String

  /// The letter of the short name.
  package let letter: String?

  package init(kind: Kind, name: String, letter: String?) {
    self.kind = kind
    self.name = name
    self.letter = letter
  }
}
