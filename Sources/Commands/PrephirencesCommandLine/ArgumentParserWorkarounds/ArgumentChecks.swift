// Workaround for swift-argument-parser, which reads the argument after `--service=` instead of an
// empty value, and for Swift, which repairs arguments that are not text without reporting it.
// Either would name another credential. Unnecessary once the parser accepts an empty value after
// the equals sign.

extension ProgramArguments {
  /// Checks that the arguments are known, are text, and do not end with an equals sign.
  ///
  /// - Parameter passesOn: Whether the words after `--` are another program's, which takes any
  ///   bytes.
  /// - Throws: ``CommandLineError`` about the first argument that is wrong.
  static func check(passesOn: Bool = false) throws(CommandLineError) {
    try check(pointers, passesOn: passesOn)
  }

  static func check(
    _ arguments: [UnsafePointer<CChar>?], passesOn: Bool = false
  ) throws(CommandLineError) {
    guard !arguments.isEmpty else { throw .argumentsUnknown }
    var mayBeOption = true
    for (index, argument) in arguments.enumerated() {
      guard let argument else { continue }
      guard let text = String(validatingCString: argument) else { throw .argumentNotText(index) }
      if text == "--" {
        if passesOn { return }
        mayBeOption = false
      }
      guard !mayBeOption || !isOptionWithoutValue(text) else {
        throw .optionWithoutValue(index, text)
      }
    }
  }

  /// Returns whether the text is an option with nothing after its equals sign.
  static func isOptionWithoutValue(_ text: String) -> Bool {
    let isOption = text.hasPrefix("--") || text.hasPrefix("-") && text.utf8.count == 3
    return isOption && text.utf8.firstIndex(of: UInt8(ascii: "=")) == text.utf8.indices.last
  }
}
