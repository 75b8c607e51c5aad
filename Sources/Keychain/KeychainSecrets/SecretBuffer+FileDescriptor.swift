internal import Glibc

extension SecretBuffer {
  /// Appends what a descriptor has now, with one system call.
  ///
  /// Returns how many bytes were appended, 0 at the end; `nil` if the call was interrupted, or if a
  /// descriptor in non-blocking mode has nothing yet.
  package mutating func append(
    readingOnce descriptor: Int32, limit: Int
  ) throws(SecretsError) -> Int? {
    var isReady = true
    let count = try unsafe append(upTo: limit) { out, room throws(SecretsError) in
      let count = unsafe read(descriptor, out, room)
      if count >= 0 { return count }
      guard errno == EINTR || errno == EAGAIN else { throw .inputOutput(errno: errno) }
      isReady = false
      return 0
    }
    return isReady ? count : nil
  }
}
