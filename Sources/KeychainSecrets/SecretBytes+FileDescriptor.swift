internal import Glibc

extension SecretBytes {
  /// Reads a file descriptor to its end, straight into guarded memory.
  ///
  /// - Parameters:
  ///   - descriptor: An open descriptor. It stays open.
  ///   - limit: The greatest number of bytes to accept.
  /// - Returns: What was read, or `nil` if there is more than `limit` bytes.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/inputOutput`` if reading fails, or
  ///   ``SecretsError/Code/outOfMemory``. An interrupted read is repeated.
  ///
  /// The corresponding C function is `read`.
  public static func reading(
    fileDescriptor descriptor: Int32, limit: Int
  ) throws(SecretsError) -> SecretBytes? {
    var buffer = try SecretBuffer()
    while buffer.count <= limit {
      let room = min(65536, limit + 1 - buffer.count)
      let count = try unsafe buffer.append(upTo: room) { out, room throws(SecretsError) in
        while true {
          let count = unsafe read(descriptor, out, room)
          if count >= 0 { return count }
          guard errno == EINTR else { throw .inputOutput(errno: errno) }
        }
      }
      if count == 0 { return try buffer.finish() }
    }
    return nil
  }

  /// Writes all bytes to a file descriptor.
  ///
  /// - Parameter descriptor: An open descriptor. It stays open.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/inputOutput``, when some bytes may have
  ///   been written. An interrupted or partial write is continued.
  ///
  /// The corresponding C function is `write`.
  public borrowing func write(toFileDescriptor descriptor: Int32) throws(SecretsError) {
    let count = count
    try unsafe withPointer { bytes throws(SecretsError) in
      var offset = 0
      while offset < count {
        let written = unsafe Glibc.write(descriptor, bytes + offset, count - offset)
        if written >= 0 {
          offset += written
        } else if errno != EINTR {
          throw .inputOutput(errno: errno)
        }
      }
    }
  }
}
