internal import Glibc

extension CommandLineError {
  static let argumentsUnknown = CommandLineError(
    ExitCodes.internalFailure, "the arguments cannot be read; nothing was done", hint: "mount /proc"
  )

  static func argumentNotText(_ index: Int) -> Self {
    Self(ExitCodes.usage, "argument \(index) is not valid UTF-8")
  }

  /// The error of an argument that ends with an equals sign; only a name that cannot be a secret is
  /// shown.
  static func optionWithoutValue(_ index: Int, _ argument: String) -> Self {
    let option = argument.dropLast()
    let isName = option.allSatisfy { $0.isASCII && $0.isLetter || $0 == "-" }
    return Self(
      ExitCodes.usage, "argument \(index) is an option with nothing after its equals sign",
      hint: "write an empty value as an argument of its own"
        + (isName ? ": \(option) ''" : ", two quotes: ''"))
  }

  /// The error if standard input was closed when the program began; the hint names what should be
  /// read.
  package static func inputClosed(_ hint: String?) -> Self {
    Self(ExitCodes.inputOutput, "standard input cannot be read: it is closed", hint: hint)
  }

  package static func unreadable(_ source: String) -> Self {
    Self(ExitCodes.inputOutput, "\(source) cannot be read")
  }

  package static func cannotRead(_ source: String, errno: Int32) -> Self {
    Self(
      ExitCodes.inputOutput, "\(source) cannot be read: \(reason(errno))", systemError: errno)
  }

  package static func cannotOpen(_ path: String, errno: Int32) -> Self {
    cannotRead("'\(path)'", errno: errno)
  }

  package static func outputFailed(errno: Int32) -> Self {
    Self(
      ExitCodes.inputOutput, "standard output cannot be written: \(reason(errno))",
      systemError: errno)
  }

  package static func cannotWrite(_ path: String, errno: Int32) -> Self {
    Self(
      ExitCodes.inputOutput, "'\(path)' cannot be written: \(reason(errno))", systemError: errno)
  }

  package static func notARegularFile(_ path: String) -> Self {
    Self(
      ExitCodes.refused, "'\(path)' is not a regular file, and is not overwritten",
      hint: "name another file, or remove this one")
  }

  static func reason(_ code: Int32) -> String {
    let text = strerror(code).flatMap { String(validatingCString: $0) }
    return text.map(Words.inOurStyle) ?? "error \(code)"
  }
}
