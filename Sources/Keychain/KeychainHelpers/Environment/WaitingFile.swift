internal import Glibc
package import KeychainCredentials

/// Opens files that may be pipes, to which nobody may ever write.
package enum WaitingFile {
  /// Opens a file to read it.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - timeout: How long to wait until a pipe has something to read; `nil` to wait for ever.
  ///   - failure: Makes an error of `errno`.
  /// - Returns: The descriptor, which is closed when a program is started.
  /// - Throws: What `failure` returns, or ``/KeychainCredentials/KeychainError`` with `timedOut`.
  package static func open(
    _ path: String, within timeout: Duration?, failure: (Int32) -> KeychainError
  ) throws(KeychainError) -> Int32 {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(errno) }
    do throws(KeychainError) {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw failure(errno) }
      if status.st_mode & S_IFMT == S_IFIFO, try !wait(for: descriptor, timeout, failure) {
        throw KeychainError(.timedOut, "nobody wrote to '\(path)' in time")
      }
      guard fcntl(descriptor, F_SETFL, 0) == 0 else { throw failure(errno) }
      return descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// Returns whether there is something to read, or the end.
  private static func wait(
    for descriptor: Int32, _ timeout: Duration?, _ failure: (Int32) -> KeychainError
  ) throws(KeychainError) -> Bool {
    let end = timeout.map { ContinuousClock.now + $0 }
    while true {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let left = end.map { max(ContinuousClock.now.duration(to: $0), .zero) / .milliseconds(1) }
      let count = poll(&entry, 1, left.map { Int32(min($0.rounded(.up), 1e9)) } ?? -1)
      if count >= 0 { return count > 0 }
      guard errno == EINTR else { throw failure(errno) }
    }
  }
}
