internal import CPrephirencesSystem
internal import Glibc

/// Replaces this process by another program.
package enum ProgramReplacement {
  /// Becomes a program, in the state in which this process began: ignored and blocked signals, the
  /// limit of core files, closed standard streams.
  ///
  /// Files that are not closed on exec stay open. All other threads end.
  ///
  /// The words have no NUL; the variables are C texts `NAME=value`, with a null pointer at the end.
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

  /// Returns why a program cannot be found, and starts nothing.
  ///
  /// `nil` if there is a file of that name, or if that cannot be known.
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

  /// Whether there is a file, perhaps one that this process cannot see.
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
