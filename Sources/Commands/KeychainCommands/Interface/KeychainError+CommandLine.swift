internal import KeychainCredentials
internal import PrephirencesCommandLine

extension KeychainError {
  /// Creates the error of the keychain for a failure of the command line.
  init(_ failure: CommandLineError) {
    let code: Code =
      switch failure.exitCode {
      case ExitCodes.usage: .invalidArgument
      case ExitCodes.inputOutput: .inputOutput
      case ExitCodes.refused: .refused
      case ExitCodes.cancelled: .cancelled
      default: .internalFailure
      }
    self.init(
      code, failure.message, recovery: failure.hint.map { .advice($0) },
      underlying: failure.systemError.map { .system(errno: $0) })
  }

  /// The error if standard input was closed when the program began; the recovery names what should
  /// be read.
  static func inputClosed(_ recovery: String) -> Self {
    Self(CommandLineError.inputClosed(recovery))
  }

  static func unreadable(_ source: String) -> Self { Self(CommandLineError.unreadable(source)) }

  static func cannotRead(_ source: String, errno: Int32) -> Self {
    Self(CommandLineError.cannotRead(source, errno: errno))
  }

  static func cannotOpen(_ path: String, errno: Int32) -> Self {
    Self(CommandLineError.cannotOpen(path, errno: errno))
  }

  static func outputFailed(errno: Int32) -> Self {
    Self(CommandLineError.outputFailed(errno: errno))
  }

  static let nobodyReadsOutput = KeychainError(
    .timedOut, "nobody reads the standard output",
    recovery: "look whether its reader hangs, or wait longer with --deadline")

  static func cannotWrite(_ path: String, errno: Int32) -> Self {
    Self(CommandLineError.cannotWrite(path, errno: errno))
  }

  static func notARegularFile(_ path: String) -> Self {
    Self(CommandLineError.notARegularFile(path))
  }
}
