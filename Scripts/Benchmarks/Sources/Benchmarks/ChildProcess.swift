import Foundation
import Glibc

/// A command that is run repeatedly.
struct ChildProcess {
  struct Failure: Error {
    let command: [String]
    let status: Int32
  }

  let command: [String]

  init(_ command: String...) { self.command = command }

  init(_ command: [String]) { self.command = command }

  /// Runs the command without its output, and waits for its end.
  func run() throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
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

  /// Runs the command, and returns its output.
  func output() throws -> String {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: command[0])
    process.arguments = Array(command.dropFirst())
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(command: command, status: process.terminationStatus)
    }
    return String(decoding: data, as: UTF8.self)
  }
}
