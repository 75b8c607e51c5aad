internal import CPrephirencesSystem
internal import Glibc

/// The arguments of the program, from the C library.
///
/// Swift reads its own from `/proc`. If that is not mounted, Swift has no arguments, and no command
/// would ever be found.
package enum ProgramArguments {
  /// The arguments, with the program's name first; invalid UTF-8 is repaired.
  ///
  /// The array is empty if neither the C library nor Swift has them.
  package static var texts: [String] {
    pointers.compactMap { $0.map { String(cString: $0) } }
  }

  /// The arguments as the C library has them.
  package static var pointers: [UnsafePointer<CChar>?] {
    let count = ccommandline_argument_count()
    guard count == 0 else { return (0..<count).map { ccommandline_argument($0) } }
    return (0..<Int(CommandLine.argc)).map { CommandLine.unsafeArgv[$0].map { UnsafePointer($0) } }
  }
}

extension ProgramArguments {
  /// Returns the bytes of the last arguments, which need not be text.
  package static func bytes(ofLast texts: [String]) -> [[UInt8]] {
    let last = pointers.suffix(texts.count)
    guard last.count == texts.count else { return texts.map { Array($0.utf8) } }
    return zip(last, texts).map { pointer, text in
      guard let pointer, String(cString: pointer).utf8.elementsEqual(text.utf8) else {
        return Array(text.utf8)
      }
      return UnsafeBufferPointer(start: pointer, count: strlen(pointer)).map {
        UInt8(bitPattern: $0)
      }
    }
  }
}

// Workaround for swift-argument-parser, which reads the argument after `--service=` instead of an
// empty value, and for Swift, which repairs arguments that are not text without reporting it.
// Either would name another credential. Unnecessary once the parser accepts an empty value after
// the equals sign.

extension ProgramArguments {
  /// Checks that the arguments are known, are text, and do not end with an equals sign.
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
