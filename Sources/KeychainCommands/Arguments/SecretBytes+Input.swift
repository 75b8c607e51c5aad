internal import KeychainCredentials
internal import KeychainSecrets

extension SecretBytes {
  /// How many bytes at the end are one newline: 2 for a carriage return with it, 0 if there is
  /// none.
  borrowing func trailingNewlineCount() -> Int {
    withBytes { bytes in
      let count = bytes.byteCount
      guard count > 0, bytes.byte(at: count - 1) == UInt8(ascii: "\n") else { return 0 }
      return count > 1 && bytes.byte(at: count - 2) == UInt8(ascii: "\r") ? 2 : 1
    }
  }

  /// Returns the bytes without one newline at the end.
  borrowing func droppingTrailingNewline() throws(KeychainError) -> SecretBytes {
    let kept = count - trailingNewlineCount()
    return try withBytes { bytes throws(KeychainError) in
      try translating { () throws(SecretsError) in
        try SecretBytes(copying: bytes.extracting(0..<kept))
      }
    }
  }
}

extension SecretBytes {
  /// Reads a descriptor to its end; a failure says what could not be read.
  ///
  /// - Parameters:
  ///   - descriptor: An open descriptor.
  ///   - source: What people call it.
  ///   - limit: The greatest number of bytes to accept.
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

/// Calls `body`, and gives its failure the form that commands report.
func translating<Result: ~Copyable>(
  _ body: () throws(SecretsError) -> Result
) throws(KeychainError) -> Result {
  do { return try body() } catch { throw KeychainError(error) }
}
