import Foundation
import Glibc

/// A command that is run repeatedly.
struct ChildProcess {
  struct Failure: Error {
    let command: [String]
    let status: Int32
  }

  let command: [String]
  private var input = "/dev/null"

  init(_ command: String...) { self.command = command }

  init(_ command: [String]) { self.command = command }

  /// Returns the same command with a file as its standard input.
  func reading(_ path: String) -> ChildProcess {
    var copy = self
    copy.input = path
    return copy
  }

  /// Returns the same command, started by another: `valgrind` and its options.
  func under(_ words: [String]) -> ChildProcess {
    var copy = ChildProcess(words + command)
    copy.input = input
    return copy
  }

  /// Runs the command without its output, and waits for its end.
  func run() throws { try run(output: "/dev/null") }

  /// Runs the command, and returns its output.
  func output() throws -> String {
    let path = NSTemporaryDirectory() + "/output-\(getpid())"
    defer { unlink(path) }
    try run(output: path)
    return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
  }

  private func run(output: String) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
    let flags = O_WRONLY | O_CREAT | O_TRUNC
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, flags, 0o600)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var child: pid_t = 0
    let result = posix_spawnp(&child, command[0], &actions, nil, &arguments, environ)
    guard result == 0 else { throw Failure(command: command, status: result) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      guard errno == EINTR else { throw Failure(command: command, status: errno) }
    }
    guard status == 0 else { throw Failure(command: command, status: status) }
  }
}
