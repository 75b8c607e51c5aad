internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

extension SecretBytes {
  /// Reads a descriptor to its end; a failure says what could not be read.
  ///
  /// - Parameters:
  ///   - descriptor: An open descriptor.
  ///   - source: The name of the source in errors.
  ///   - limit: The maximum number of bytes.
  ///   - deadline: When the end must have come; `nil` to wait for it.
  /// - Returns: What was read, or `nil` if there is more.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/inputOutput``,
  ///   ``KeychainError/Code/timedOut``, or ``KeychainError/Code/insufficientMemory``.
  static func reading(
    _ descriptor: Int32, named source: String, limit: Int, by deadline: Deadline?
  ) throws(KeychainError) -> SecretBytes? {
    do throws(SecretsError) {
      return try reading(fileDescriptor: descriptor, limit: limit) {
        deadline?.awaitInput($0) ?? true
      }
    } catch {
      if deadline?.hasPassed == true, error.systemError == ETIMEDOUT { throw .endless(source) }
      guard error.code == .inputOutput else { throw KeychainError(error) }
      throw .cannotRead(source, errno: error.systemError)
    }
  }
}
