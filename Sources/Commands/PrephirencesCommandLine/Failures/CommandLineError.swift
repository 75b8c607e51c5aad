/// A failure of the command line itself: its arguments, its standard streams, its files.
package struct CommandLineError: CommandFailure, Hashable {
  package let exitCode: Int32
  package let message: String
  package let hint: String?

  /// `errno` of the system call that failed; `nil` if none did.
  package let systemError: Int32?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - exitCode: One of ``ExitCodes``.
  ///   - message: What failed, without a capital and a full stop. Never include a value or a secret.
  ///   - hint: What to do next.
  ///   - systemError: `errno` of the system call that failed.
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
  /// The error of a task that was cancelled.
  package static let cancelled = CommandLineError(ExitCodes.cancelled, "cancelled")
}
