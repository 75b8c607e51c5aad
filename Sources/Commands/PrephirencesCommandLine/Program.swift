internal import CPrephirencesSystem
internal import Glibc
internal import PrephirencesSystem

/// The arguments of a program, with the program's name first.
package struct ProgramArguments: Sendable {
  /// The bytes of each argument, which need not be text; empty if unknown.
  private let words: [[UInt8]]

  package init(_ texts: [String]) { words = texts.map { Array($0.utf8) } }

  init(_ words: [[UInt8]]) { self.words = words }

  /// The arguments of this process, from the C library.
  ///
  /// Swift reads its own from `/proc`. Without it, Swift has no arguments, and no command would be
  /// found.
  package static var process: Self {
    let count = ccommandline_argument_count()
    let pointers =
      count > 0
      ? (0..<count).map { ccommandline_argument($0) }
      : (0..<Int(CommandLine.argc)).map { CommandLine.unsafeArgv[$0].map { UnsafePointer($0) } }
    return Self(
      pointers.compactMap { pointer in
        pointer.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
      })
  }

  /// The arguments as text; invalid UTF-8 is repaired.
  package var texts: [String] { words.map { String(decoding: $0, as: UTF8.self) } }

  /// The name of the program, or `nil` if it has none.
  package var programName: String? {
    (texts.first ?? "").split(separator: "/").last.map(String.init)
  }

  /// Returns the bytes of the last arguments, which need not be text.
  package func bytes(ofLast texts: [String]) -> [[UInt8]] {
    let last = words.suffix(texts.count)
    guard last.count == texts.count else { return texts.map { Array($0.utf8) } }
    return zip(last, texts).map { word, text in
      String(decoding: word, as: UTF8.self).utf8.elementsEqual(text.utf8) ? word : Array(text.utf8)
    }
  }
}

// Workaround for swift-argument-parser, which takes the argument after `--service=` instead of an
// empty value, and for Swift, which silently repairs arguments that are not text. Either would name
// another credential. Unnecessary once the parser accepts an empty value after the equals sign.

extension ProgramArguments {
  /// Checks that the arguments are known, are text, and do not end with an equals sign.
  func check(passesOn: Bool = false) throws(CommandLineError) {
    guard !words.isEmpty else { throw .argumentsUnknown }
    var mayBeOption = true
    for (index, word) in words.enumerated() {
      guard let text = String(validating: word, as: UTF8.self) else {
        throw .argumentNotText(index)
      }
      if text == "--" {
        if passesOn { return }
        mayBeOption = false
      }
      guard !mayBeOption || !Self.isOptionWithoutValue(text) else {
        throw .optionWithoutValue(index, text)
      }
    }
  }

  /// Whether the text is an option with nothing after its equals sign.
  static func isOptionWithoutValue(_ text: String) -> Bool {
    let isOption = text.hasPrefix("--") || text.hasPrefix("-") && text.utf8.count == 3
    return isOption && text.utf8.firstIndex(of: UInt8(ascii: "=")) == text.utf8.indices.last
  }
}

package enum ProgramMemory {
  /// More than a command needs that neither reads large files nor hashes a passphrase.
  private static let least = 1 << 20

  /// Ends the process with 71 if there is less memory than any command needs.
  ///
  /// Later, Swift would end it with a signal instead of an error that can be caught.
  package static func require() {
    if !ccommandline_finds_memory(least) { exit(ExitCodes.insufficientMemory) }
  }
}

/// Replaces this process with another program.
package enum ProgramReplacement {
  /// Becomes a program, with the initial state of this process: ignored and blocked signals, the
  /// limit of core files, closed standard streams.
  ///
  /// Files that are not closed on exec stay open. All other threads end.
  ///
  /// The words must not contain NUL. The variables are C strings `NAME=value`, followed by a null
  /// pointer.
  package static func start(
    _ words: [[UInt8]], environment: UnsafePointer<UnsafePointer<CChar>?>
  ) -> CommandLineError {
    let texts = words.map { word in
      let text = UnsafeMutablePointer<CChar>.allocate(capacity: word.count + 1)
      for (offset, byte) in word.enumerated() { text[offset] = CChar(bitPattern: byte) }
      text[word.count] = 0
      return text
    }
    defer { for text in texts { text.deallocate() } }
    guard let name = texts.first.map({ String(cString: $0) }), !name.isEmpty else {
      return .commandNotFound("")
    }
    let arguments: [UnsafePointer<CChar>?] = texts.map { UnsafePointer($0) } + [nil]
    let failure = arguments.withUnsafeBufferPointer { buffer in
      buffer.baseAddress.map { ccommandline_become_program($0, environment) } ?? EFAULT
    }
    guard failure == ENOENT else { return .notStarted(name, errno: failure) }
    return failureToFind(words[0]) ?? .interpreterNotFound(name)
  }

  /// Returns why a program cannot be found, without starting anything.
  ///
  /// Returns `nil` if a file with that name exists, or if that is unknown.
  package static func failureToFind(_ name: [UInt8]) -> CommandLineError? {
    let slash = UInt8(ascii: "/")
    guard !name.contains(slash) else { return exists(name) ? nil : notFound(name) }
    let isFound = searchPath.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      .contains { folder in
        exists((folder.isEmpty ? [UInt8(ascii: ".")] : Array(folder)) + [slash] + name)
      }
    return isFound ? nil : notFound(name)
  }

  private static func notFound(_ name: [UInt8]) -> CommandLineError {
    .commandNotFound(String(decoding: name, as: UTF8.self))
  }

  /// PATH as bytes, or what the C library searches without it.
  private static var searchPath: [UInt8] {
    guard let path = getenv("PATH") else { return Array("/bin:/usr/bin".utf8) }
    return UnsafeBufferPointer(start: path, count: strlen(path)).map { UInt8(bitPattern: $0) }
  }

  /// Whether a file exists, also one that this process may not see.
  private static func exists(_ path: [UInt8]) -> Bool {
    let text = path.map { CChar(bitPattern: $0) } + [0]
    return access(text, F_OK) == 0 || errno != ENOENT
  }
}

extension CommandLineError {
  static func commandNotFound(_ name: String) -> Self {
    Self(
      ExitCodes.commandNotFound, "the command '\(name)' was not found",
      hint: "check its spelling and PATH")
  }

  static func interpreterNotFound(_ name: String) -> Self {
    Self(
      ExitCodes.commandNotFound,
      "the command '\(name)' cannot be started: its interpreter was not found",
      hint: "check the line after #! in it")
  }

  static func notStarted(_ name: String, errno code: Int32) -> Self {
    Self(
      ExitCodes.notStarted, "the command '\(name)' cannot be started: \(reason(code))",
      systemError: code)
  }
}

/// The descriptors that a process inherits.
package enum StandardDescriptors {
  private static let closed: [Int32] = {
    let closed = (0...2).filter { fcntl($0, F_GETFD) < 0 && errno == EBADF }
    // Each open() takes the lowest free number, so a later one would otherwise become standard
    // output, and messages would go to a file.
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

  /// Replaces closed standard streams with `/dev/null`, and makes writing to a broken pipe, or past
  /// a limit of file size, fail instead of ending the process.
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
