internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainTerminal

/// Standard output, which carries what was asked for and nothing else.
enum StandardOutput {
  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// How many columns there are; `nil` if it is no terminal.
  static var width: Int? { TerminalWidth.columns(of: STDOUT_FILENO) }

  /// Writes text; without standard output, this fails.
  static func write(_ text: String) throws(KeychainError) {
    try checkOpen()
    guard writeAll(text, to: STDOUT_FILENO) else { throw .outputFailed(errno: errno) }
  }

  /// Writes a secret without making a string of it.
  static func write(_ secret: borrowing SecretBytes) throws(KeychainError) {
    try checkOpen()
    do throws(SecretsError) {
      try secret.write(toFileDescriptor: STDOUT_FILENO)
    } catch {
      throw .outputFailed(errno: error.systemError)
    }
  }

  private static func checkOpen() throws(KeychainError) {
    guard !StandardDescriptors.wasClosed(STDOUT_FILENO) else { throw .outputFailed(errno: EBADF) }
  }
}
