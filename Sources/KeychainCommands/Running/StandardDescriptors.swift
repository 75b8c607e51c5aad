internal import Glibc
internal import KeychainCredentials

/// The state in which a process gets its standard streams and its arguments.
enum StandardDescriptors {
  private static let closed: [Int32] = {
    let closed = (0...2).filter { fcntl($0, F_GETFD) < 0 && errno == EBADF }
    // A later open() would otherwise become standard output, and messages would go into a file.
    // Each open() takes the lowest number that is free.
    for _ in closed { _ = open("/dev/null", O_RDWR) }
    return closed
  }()

  /// The descriptors that were open when the process began, or `nil` if that cannot be told.
  private static let inherited: [Int32]? = {
    var found = (0...2).filter { !closed.contains($0) }
    guard let folder = opendir("/proc/self/fd") else { return nil }
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
  static func prepare() {
    _ = inherited
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Whether a standard stream was closed when the process began.
  static func wasClosed(_ descriptor: Int32) -> Bool {
    closed.contains(descriptor)
  }

  /// Whether a descriptor was open when the process began; one that was not is none that was
  /// meant, even if a file of this process has its number by now.
  static func wasOpen(_ descriptor: Int32) -> Bool {
    inherited?.contains(descriptor) ?? !wasClosed(descriptor)
  }

  /// Checks that all arguments say what they seem to.
  ///
  /// Swift would repair those that are not text silently, and the argument parser takes for the
  /// empty value of `--service=` the argument that follows. Either would name another credential
  /// than was meant.
  static func checkArguments() throws(KeychainError) {
    var mayBeOption = true
    for index in 0..<Int(CommandLine.argc) {
      guard let argument = CommandLine.unsafeArgv[index] else { continue }
      guard let text = String(validatingCString: argument) else { throw .argumentNotText(index) }
      if text == "--" { mayBeOption = false }
      guard !mayBeOption || !isOptionWithoutValue(text) else { throw .optionWithoutValue(index) }
    }
  }

  /// Whether the text is an option and an equals sign, and nothing after it.
  static func isOptionWithoutValue(_ text: String) -> Bool {
    text.hasPrefix("--") && text.utf8.firstIndex(of: UInt8(ascii: "=")) == text.utf8.indices.last
  }
}
