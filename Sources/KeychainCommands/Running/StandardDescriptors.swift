internal import Glibc
internal import KeychainCredentials

/// The state in which a process gets its standard streams and its arguments.
enum StandardDescriptors {
  private static let closed: [Int32] = {
    let closed = (0...2).filter { fcntl($0, F_GETFD) < 0 && errno == EBADF }
    // A later open() would otherwise become standard output, and messages would go into a file.
    // The lowest free number is taken, so each open() fills the first hole.
    for descriptor in closed where open("/dev/null", O_RDWR) != descriptor { break }
    return closed
  }()

  /// Puts `/dev/null` in the place of standard streams that are closed, and lets writing to a
  /// broken pipe, or past a limit of file size, fail instead of ending the process.
  static func prepare() {
    _ = closed
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Whether a standard stream was closed when the process began.
  static func wasClosed(_ descriptor: Int32) -> Bool {
    closed.contains(descriptor)
  }

  /// Checks that all arguments are text; Swift would repair others silently, and name another
  /// credential than was meant.
  static func checkArguments() throws(KeychainError) {
    for index in 0..<Int(CommandLine.argc) {
      guard let argument = CommandLine.unsafeArgv[index] else { continue }
      guard String(validatingCString: argument) != nil else { throw .argumentNotText(index) }
    }
  }
}
