internal import Glibc

extension SecretBytes {
  /// Reads a file descriptor to its end, straight into guarded memory.
  ///
  /// - Parameters:
  ///   - descriptor: An open descriptor. It stays open.
  ///   - limit: The greatest number of bytes to accept.
  /// - Returns: The bytes, or `nil` if there are more than `limit`.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/inputOutput`` if reading fails, or
  ///   ``SecretsError/Code/outOfMemory``. An interrupted read is repeated, and a descriptor in
  ///   non-blocking mode is waited for.
  ///
  /// The corresponding C function is `read`.
  public static func reading(
    fileDescriptor descriptor: Int32, limit: Int
  ) throws(SecretsError) -> SecretBytes? {
    try reading(fileDescriptor: descriptor, limit: limit) { _ in true }
  }

  /// Reads as ``reading(fileDescriptor:limit:)`` does, for no longer than a caller waits.
  ///
  /// Returns the bytes, or `nil` if there are more than `limit`.
  package static func reading(
    fileDescriptor descriptor: Int32, limit: Int, awaiting awaitInput: (Int32) -> Bool
  ) throws(SecretsError) -> SecretBytes? {
    // A key fits into a slot, which costs no system calls.
    var buffer = try SecretBuffer(capacity: min(4095, max(0, limit)) + 1)
    while buffer.count <= limit {
      // One byte more than the limit distinguishes "exactly the limit" from "more".
      let room = min(65535, limit - buffer.count) + 1
      guard awaitInput(descriptor) else { throw .inputOutput(errno: ETIMEDOUT) }
      let count = try unsafe buffer.append(upTo: room) { out, room throws(SecretsError) in
        try repeatingWhileBusy(descriptor, waitingFor: POLLIN) {
          unsafe read(descriptor, out, room)
        }
      }
      if count == 0 { return try buffer.finish() }
    }
    return nil
  }

  /// Repeats a call that was interrupted, or whose non-blocking descriptor was not ready.
  ///
  /// Another program may have left a pipe or terminal in that mode.
  private static func repeatingWhileBusy(
    _ descriptor: Int32, waitingFor event: CInt, _ call: () -> Int
  ) throws(SecretsError) -> Int {
    while true {
      let result = call()
      if result >= 0 { return result }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        unsafe poll(&waiting, 1, -1)
      default: throw .inputOutput(errno: errno)
      }
    }
  }

  /// Writes all bytes to a file descriptor.
  ///
  /// - Parameter descriptor: An open descriptor. It stays open.
  /// - Throws: ``SecretsError`` with ``SecretsError/Code/inputOutput``; some bytes may have
  ///   been written. An interrupted or partial write is continued, and a descriptor in non-blocking
  ///   mode is waited for.
  ///
  /// The corresponding C function is `write`.
  public borrowing func write(toFileDescriptor descriptor: Int32) throws(SecretsError) {
    let count = count
    try unsafe withPointer { bytes throws(SecretsError) in
      var offset = 0
      while offset < count {
        let rest = unsafe bytes + offset
        offset += try Self.repeatingWhileBusy(descriptor, waitingFor: POLLOUT) {
          unsafe Glibc.write(descriptor, rest, count - offset)
        }
      }
    }
  }
}
