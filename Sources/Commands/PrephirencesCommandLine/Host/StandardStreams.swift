internal import Glibc
internal import PrephirencesSystem

/// The descriptors that a process inherits.
package enum StandardDescriptors {
  private static let closed: [Int32] = {
    let closed = (0...2).filter { fcntl($0, F_GETFD) < 0 && errno == EBADF }
    // Otherwise a later open() would become standard output, and messages would go to a file. Each
    // open() takes the lowest free number.
    for _ in closed { _ = open("/dev/null", O_RDWR) }
    return closed
  }()

  /// The descriptors that were open when the process began.
  private static let inherited: [Int32] = {
    var found = (0...2).filter { !closed.contains($0) }
    guard let folder = opendir("/proc/self/fd") else {
      // Without /proc, each number must be tried; far fewer are ever inherited.
      return found + (3..<65536).filter { fcntl($0, F_GETFD) >= 0 }
    }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      // `.` and `..` give 0.
      let number = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 1) { atoi($0) }
      }
      if number > 2, number != dirfd(folder) { found.append(number) }
    }
    return found
  }()

  /// Puts `/dev/null` in the place of standard streams that are closed, and lets writing to a
  /// broken pipe, or past a limit of file size, fail instead of ending the process.
  package static func prepare() {
    _ = inherited
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Whether a standard stream was closed when the process began.
  package static func wasClosed(_ descriptor: Int32) -> Bool {
    closed.contains(descriptor)
  }

  /// Whether a descriptor was open when the process began.
  ///
  /// A descriptor that is opened later cannot be the caller's, even if it has the same number.
  package static func wasOpen(_ descriptor: Int32) -> Bool {
    inherited.contains(descriptor)
  }
}

/// Standard output, which carries only what was requested.
package enum StandardOutput {
  package static let descriptor: Int32 = STDOUT_FILENO

  package static var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The number of columns; `nil` if standard output is not a terminal.
  package static var width: Int? { TerminalWidth.columns(of: STDOUT_FILENO) }

  /// Writes text; fails without standard output.
  package static func write(_ text: String) throws(CommandLineError) {
    try checkOpen()
    guard writeAll(text, to: STDOUT_FILENO) else { throw .outputFailed(errno: errno) }
  }

  /// Fails if standard output was closed when the program began.
  package static func checkOpen() throws(CommandLineError) {
    guard !StandardDescriptors.wasClosed(STDOUT_FILENO) else { throw .outputFailed(errno: EBADF) }
  }
}

extension TextTable {
  /// The columns within the terminal's width; unlimited if standard output is not a terminal.
  package var columns: String { columns(within: StandardOutput.width) }
}
