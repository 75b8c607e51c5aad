internal import CCommandLine
internal import Glibc
internal import KeychainCredentials

/// The arguments of the program, from the C library.
///
/// Swift reads its own from `/proc`. Where that is not mounted it has none, and every command line
/// would look like one without a command.
enum ProgramArguments {
  /// The arguments, with the program's name first; what is not text is repaired.
  ///
  /// They are empty if neither the C library nor Swift knows them.
  static var texts: [String] {
    pointers.compactMap { $0.map { String(cString: $0) } }
  }

  private static var pointers: [UnsafePointer<CChar>?] {
    let count = ccommandline_argument_count()
    guard count == 0 else { return (0..<count).map { ccommandline_argument($0) } }
    return (0..<Int(CommandLine.argc)).map { CommandLine.unsafeArgv[$0].map { UnsafePointer($0) } }
  }

  /// Checks that all arguments are there, and say what they seem to.
  ///
  /// Swift would repair those that are not text silently, and the argument parser takes for the
  /// empty value of `--service=` the argument that follows. Either would name another credential
  /// than was meant.
  static func check() throws(KeychainError) {
    try check(pointers)
  }

  static func check(_ arguments: [UnsafePointer<CChar>?]) throws(KeychainError) {
    guard !arguments.isEmpty else { throw .argumentsUnknown }
    var mayBeOption = true
    for (index, argument) in arguments.enumerated() {
      guard let argument else { continue }
      guard let text = String(validatingCString: argument) else { throw .argumentNotText(index) }
      if text == "--" { mayBeOption = false }
      guard !mayBeOption || !isOptionWithoutValue(text) else { throw .optionWithoutValue(index) }
    }
  }

  /// Whether the text is an option and an equals sign, and nothing after it.
  static func isOptionWithoutValue(_ text: String) -> Bool {
    let isOption = text.hasPrefix("--") || text.hasPrefix("-") && text.utf8.count == 3
    return isOption && text.utf8.firstIndex(of: UInt8(ascii: "=")) == text.utf8.indices.last
  }
}
