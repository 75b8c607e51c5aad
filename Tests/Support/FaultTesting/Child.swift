internal import Foundation
package import Glibc
internal import Synchronization
internal import TestPrograms

/// A process of a program next to the tests, which prints a line for each completed step.
package struct Child: ~Copyable {
  package let process: pid_t
  private let input: Int32
  private let output: Int32

  /// Starts a program of this package, with an environment of its own.
  package init(
    running program: String, _ arguments: [String], environment: [String: String]
  ) throws {
    let path = try TestPrograms.url(program).path
    // One at a time, in all tests of a process: no child must inherit the pipes of another.
    (process, input, output) = try Self.spawning.withLock { _ in
      try Self.spawn([path] + arguments, environment)
    }
  }

  private static let spawning = Mutex(())

  private static func spawn(
    _ command: [String], _ environment: [String: String]
  ) throws -> (process: pid_t, input: Int32, output: Int32) {
    var ends: [Int32] = [0, 0, 0, 0]
    try ends.withUnsafeMutableBufferPointer { ends in
      guard let first = ends.baseAddress, pipe(first) == 0, pipe(first + 2) == 0 else {
        throw Failed(errno: errno)
      }
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, ends[3], STDOUT_FILENO)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      close(ends[0])
      close(ends[3])
    }
    var words = command.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for word in words + variables { free(word) } }
    var process: pid_t = 0
    let result = posix_spawn(&process, command[0], &actions, nil, &words, &variables)
    guard result == 0 else {
      close(ends[1])
      close(ends[2])
      throw Failed(errno: result)
    }
    return (process, ends[1], ends[2])
  }

  deinit {
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
    close(input)
    close(output)
  }

  /// Waits for a line; `nil` is the end of the output, or a minute without any.
  package func line() -> String? {
    var byte: UInt8 = 0
    var line: [UInt8] = []
    while isReadable, read(output, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return nil
  }

  private var isReadable: Bool {
    var polled = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    return poll(&polled, 1, 60_000) > 0
  }

  /// Sends a command to a process that reads commands.
  ///
  /// - Returns: The lines of the answer, without `done`.
  @discardableResult
  package func ask(_ command: String) -> [String] {
    let bytes = Array((command + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
    var lines: [String] = []
    while let line = line(), line != "done" { lines.append(line) }
    return lines
  }

  package func signal(_ number: Int32) { kill(process, number) }

  /// Kills the process at whatever point it is.
  ///
  /// - Returns: The complete lines that it had written and nobody has read.
  package consuming func killed() -> [String] {
    kill(process, SIGKILL)
    return lines()
  }

  /// Waits for the process to end.
  ///
  /// - Returns: The lines that it has written, and its status as returned by `wait`.
  package consuming func ended() -> (lines: [String], status: Int32) {
    close(input)
    let lines = lines()
    var status: Int32 = -1
    waitpid(process, &status, 0)
    close(output)
    // The process number may already belong to another process, which must not be killed.
    discard self
    return (lines, status)
  }

  private func lines() -> [String] {
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while case let count = read(output, &chunk, chunk.count), count > 0 { text += chunk[..<count] }
    return text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .dropLast().map { String(decoding: $0, as: UTF8.self) }
  }

  struct Failed: Error {
    let errno: Int32
  }
}
