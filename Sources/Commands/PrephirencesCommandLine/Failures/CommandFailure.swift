/// An error that commands report as a message and a hint, and with an exit code of its own.
///
/// The commands of each library add this to the errors of that library.
package protocol CommandFailure: Error {
  /// The exit code, which is one of ``ExitCodes``.
  var exitCode: Int32 { get }

  /// What failed, without a capital and a full stop.
  var message: String { get }

  /// What to do next, with actions as commands of the running program; `nil` if nothing can be done.
  var hint: String? { get }

  /// `errno` of the system call that failed; `nil` if none did.
  var systemError: Int32? { get }
}

extension CommandFailure {
  package var systemError: Int32? { nil }
}
