package import ArgumentParser

extension QuickLine {
  /// Returns whether a flag is given.
  ///
  /// - Parameters:
  ///   - name: The name, without dashes.
  ///   - letter: The letter of the short name.
  /// - Returns: Whether it is.
  /// - Throws: ``Declined`` if more is read than was defined.
  package mutating func flag(_ name: String, _ letter: String? = nil) throws -> Bool {
    try !values(.flag, name, letter).isEmpty
  }

  /// Returns the text of an option; `nil` if it is not given.
  package mutating func option(_ name: String, _ letter: String? = nil) throws -> String? {
    try values(.option, name, letter).first
  }

  /// Returns the value of an option; `nil` if it is not given.
  ///
  /// - Parameters:
  ///   - name: The name, without dashes.
  ///   - letter: The letter of the short name.
  ///   - transform: What the parser calls, too: makes the value of a text. If it fails or returns
  ///     `nil`, the parser reads the line, and reports why.
  /// - Returns: The value.
  /// - Throws: ``Declined``, or what `transform` throws.
  package mutating func option<Value>(
    _ name: String, _ letter: String? = nil, as transform: (String) throws -> Value?
  ) throws -> Value? {
    guard let text = try values(.option, name, letter).first else { return nil }
    guard let value = try transform(text) else { throw Declined() }
    return value
  }

  /// Returns the texts of an option that may be repeated.
  package mutating func options(_ name: String) throws -> [String] {
    try values(.options, name)
  }

  /// Returns the values of an option that may be repeated.
  package mutating func options<Value>(
    _ name: String, _ letter: String? = nil, as transform: (String) throws -> Value
  ) throws -> [Value] {
    try values(.options, name, letter).map(transform)
  }

  /// Defines an option that only the parser reads.
  ///
  /// - Returns: `nil`, since it is not given.
  package mutating func parserOnly(_ names: String...) throws -> String? {
    for name in names { _ = try values(.parserOnly, name) }
    return nil
  }

  /// Defines an option with several values that only the parser reads.
  ///
  /// - Returns: No values, since it is not given.
  package mutating func parserOnlyList(_ name: String) throws -> [String] {
    try values(.parserOnly, name)
  }

  /// Returns an argument that must be given.
  package mutating func argument(_ name: String) throws -> String {
    try values(.argument, name).first ?? ""
  }

  /// Returns an argument; `nil` if it is not given.
  package mutating func optionalArgument(_ name: String) throws -> String? {
    try values(.optionalArgument, name).first
  }

  /// Returns the value of an argument; `nil` if it is not given.
  package mutating func optionalArgument<Value>(
    _ name: String, as transform: (String) throws -> Value
  ) throws -> Value? {
    try values(.optionalArgument, name).first.map(transform)
  }

  /// Returns the remaining arguments.
  package mutating func arguments(_ name: String) throws -> [String] {
    try values(.arguments, name)
  }

  /// Returns `--` and the words after it.
  package mutating func passedOn(_ name: String) throws -> [String] {
    try values(.passedOn, name)
  }

  /// Reads a group of options, and checks it.
  package mutating func group<Group: QuickArguments>(_ group: inout OptionGroup<Group>) throws {
    var options = isDefining ? Group() : group.wrappedValue
    try options.read(&self)
    if !isDefining { try options.validate() }
    group.wrappedValue = options
  }
}
