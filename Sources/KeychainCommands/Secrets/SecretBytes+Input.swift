internal import KeychainCredentials
internal import KeychainSecrets

extension SecretBytes {
  /// Reads a descriptor to its end; a failure says what could not be read.
  ///
  /// - Parameters:
  ///   - descriptor: An open descriptor.
  ///   - source: The name of the source in errors.
  ///   - limit: The maximum number of bytes.
  /// - Returns: What was read, or `nil` if there is more.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/inputOutput``, or
  ///   ``KeychainError/Code/insufficientMemory``.
  static func reading(
    _ descriptor: Int32, named source: String, limit: Int
  ) throws(KeychainError) -> SecretBytes? {
    do throws(SecretsError) {
      return try reading(fileDescriptor: descriptor, limit: limit)
    } catch {
      guard error.code == .inputOutput else { throw KeychainError(error) }
      throw .cannotRead(source, errno: error.systemError)
    }
  }
}
