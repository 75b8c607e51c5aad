internal import CCommandLine
internal import Glibc

/// Replaces this process by another program.
package enum ProgramReplacement {
  /// Becomes a program, in the state in which this process began: ignored and blocked signals, the
  /// limit of core files, closed standard streams.
  ///
  /// Files that are not closed on exec stay open. All other threads end.
  ///
  /// - Parameters:
  ///   - words: The program's name, which is searched for in the PATH of this process if it has no
  ///     slash, and its arguments; without NUL.
  ///   - environment: The variables as C texts `NAME=value`, with a null pointer at the end.
  /// - Returns: Why the program could not be started.
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
    return lacksInterpreter(name) ? .interpreterNotFound(name) : .commandNotFound(name)
  }

  /// Whether a program exists that could not be found: then it is its interpreter that is missing.
  private static func lacksInterpreter(_ name: String) -> Bool {
    if name.utf8.contains(UInt8(ascii: "/")) { return access(name, F_OK) == 0 }
    let folders = Environment.value("PATH")?.split(separator: ":", omittingEmptySubsequences: false)
    return (folders ?? []).contains { folder in
      access("\(folder.isEmpty ? "." : folder)/\(name)", X_OK) == 0
    }
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
