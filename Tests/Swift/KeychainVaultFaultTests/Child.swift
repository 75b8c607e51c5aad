import Foundation
import Glibc
import KeychainVaultTesting
import Synchronization

/// A process of the writer tool, which prints a line for each completed step.
struct Child: ~Copyable {
  private let process: pid_t
  private let output: Int32

  /// Starts a process on a vault.
  init(_ arguments: [String], on vault: TestVault) throws {
    let test = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let tool = URL(filePath: test).deletingLastPathComponent().path + "/VaultWriterTool"
    // One at a time: no child must inherit the pipe of another.
    (process, output) = try Self.spawning.withLock { _ in
      try Self.spawn([tool] + arguments, vault.environment)
    }
  }

  private static let spawning = Mutex(())

  private static func spawn(
    _ command: [String], _ environment: [String: String]
  ) throws -> (process: pid_t, output: Int32) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Failed(errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      close(ends[1])
    }
    var words = command.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for word in words + variables { free(word) } }
    var process: pid_t = 0
    let result = posix_spawn(&process, command[0], &actions, nil, &words, &variables)
    guard result == 0 else {
      close(ends[0])
      throw Failed(errno: result)
    }
    return (process, ends[0])
  }

  deinit {
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
    close(output)
  }

  /// Waits for the first line, which shows that the process has started its work.
  func waitForFirstLine() -> String {
    var byte: UInt8 = 0
    var line: [UInt8] = []
    while read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
    return String(decoding: line, as: UTF8.self)
  }

  /// Kills the process at whatever point it is.
  ///
  /// - Returns: The complete lines that it had written.
  consuming func killed() -> [String] {
    kill(process, SIGKILL)
    return lines()
  }

  /// Waits for the process to end.
  ///
  /// - Returns: The lines that it has written, and its status as returned by `wait`.
  consuming func ended() -> (lines: [String], status: Int32) {
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
