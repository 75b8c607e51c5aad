internal import Glibc

/// An error that commands report with a message, a hint and its own exit code.
///
/// The commands of each library conform that library's errors to it.
package protocol CommandFailure: Error {
  /// The exit code, one of ``ExitCodes``.
  var exitCode: Int32 { get }

  /// What failed, without a capital letter and full stop.
  var message: String { get }

  /// What to do next, with actions as commands of the running program; `nil` if nothing can be
  /// done.
  var hint: String? { get }

  /// `errno` of the failed system call; `nil` if there is none.
  var systemError: Int32? { get }
}

extension CommandFailure {
  package var systemError: Int32? { nil }
}

/// A failure of the command line itself: its arguments, standard streams and files.
package struct CommandLineError: CommandFailure, Hashable {
  package let exitCode: Int32
  package let message: String
  package let hint: String?

  /// `errno` of the failed system call; `nil` if there is none.
  package let systemError: Int32?

  /// Creates an error.
  ///
  /// The message has no capital letter, full stop, value or secret.
  package init(
    _ exitCode: Int32, _ message: String, hint: String? = nil, systemError: Int32? = nil
  ) {
    self.exitCode = exitCode
    self.message = message
    self.hint = hint
    self.systemError = systemError
  }
}

extension CommandLineError {
  package static let cancelled = CommandLineError(ExitCodes.cancelled, "cancelled")
}

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

  /// The error if standard input was closed when the program began; the hint says what was
  /// expected.
  package static func inputClosed(_ hint: String?) -> Self {
    Self(ExitCodes.inputOutput, "standard input cannot be read: it is closed", hint: hint)
  }

  package static func unreadable(_ source: String) -> Self {
    Self(ExitCodes.inputOutput, "\(source) cannot be read")
  }

  package static func cannotRead(_ source: String, errno: Int32) -> Self {
    Self(ExitCodes.inputOutput, "\(source) cannot be read: \(reason(errno))", systemError: errno)
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
    Self(ExitCodes.inputOutput, "'\(path)' cannot be written: \(reason(errno))", systemError: errno)
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
