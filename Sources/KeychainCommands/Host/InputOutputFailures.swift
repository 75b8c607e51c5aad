internal import Glibc
internal import KeychainCredentials

extension KeychainError {
  static let argumentsUnknown = KeychainError(
    .internalFailure, "the arguments cannot be read; nothing was done", recovery: "mount /proc")

  static func argumentNotText(_ index: Int) -> Self {
    Self(.invalidArgument, "argument \(index) is not valid UTF-8")
  }

  static func optionWithoutValue(_ index: Int) -> Self {
    Self(
      .invalidArgument, "argument \(index) is an option with nothing after its equals sign",
      recovery: "write an empty value as an argument of its own, such as --service ''")
  }

  /// The error if standard input was closed when the program began; the recovery names what should
  /// be read.
  static func inputClosed(_ recovery: Recovery) -> Self {
    Self(.inputOutput, "standard input cannot be read: it is closed", recovery: recovery)
  }

  static func unreadable(_ source: String) -> Self {
    Self(.inputOutput, "\(source) cannot be read")
  }

  static func cannotRead(_ source: String, errno: Int32) -> Self {
    Self(
      .inputOutput, "\(source) cannot be read: \(reason(errno))", underlying: .system(errno: errno))
  }

  static func cannotOpen(_ path: String, errno: Int32) -> Self {
    cannotRead("'\(path)'", errno: errno)
  }

  static func outputFailed(errno: Int32) -> Self {
    Self(
      .inputOutput, "standard output cannot be written: \(reason(errno))",
      underlying: .system(errno: errno))
  }

  static func cannotWrite(_ path: String, errno: Int32) -> Self {
    Self(
      .inputOutput, "'\(path)' cannot be written: \(reason(errno))",
      underlying: .system(errno: errno))
  }

  static func notARegularFile(_ path: String) -> Self {
    Self(
      .refused, "'\(path)' is not a regular file, and is not overwritten",
      recovery: "name another file, or remove this one")
  }

  private static func reason(_ code: Int32) -> String {
    let text = strerror(code).flatMap { String(validatingCString: $0) }
    return text.map(Words.inOurStyle) ?? "error \(code)"
  }
}
