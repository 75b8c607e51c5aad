import Foundation
import Glibc

/// A program that a test runs.
///
/// Foundation's `Process` also waits for all processes that inherited its descriptors, such as
/// daemons.
final class Child: Sendable {
  let process: pid_t
  private let input: CInt
  private let output: CInt

  struct CannotStart: Error { let code: CInt }

  /// Starts a program with sockets for standard input and output; standard error is shared.
  init(_ arguments: [String], _ environment: [String: String]) throws {
    var (toChild, fromChild): ([CInt], [CInt]) = ([0, 0], [0, 0])
    // Uses sockets instead of pipes, because Swift imports no call that creates a pipe which other
    // children do not inherit.
    let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &toChild) == 0,
      socketpair(AF_UNIX, type, 0, &fromChild) == 0
    else { throw CannotStart(code: errno) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
    posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    var pairs: [UnsafeMutablePointer<CChar>?] =
      environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for word in words + pairs { free(word) } }
    var process: pid_t = 0
    let code = posix_spawnp(&process, arguments[0], &actions, nil, &words, &pairs)
    close(toChild[0])
    close(fromChild[1])
    (input, output) = (toChild[1], fromChild[0])
    self.process = process
    guard code == 0 else { throw CannotStart(code: code) }
  }

  deinit { close(output) }

  /// Writes to standard input, and closes it.
  func finishInput(_ text: String = "") {
    _ = Array(text.utf8).withUnsafeBytes {
      send(input, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
    }
    close(input)
  }

  /// Reads standard output up to a mark or to its end.
  func read(until mark: String? = nil) -> Data {
    var received = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var isMarked = false
    while !isMarked {
      let count = Glibc.read(output, &buffer, buffer.count)
      guard count > 0 else { break }
      received += buffer.prefix(count)
      // Text after the mark may arrive together with it.
      let tail = received.suffix(count + (mark?.utf8.count ?? 0))
      isMarked = mark.map { tail.range(of: Data($0.utf8)) != nil } ?? false
    }
    return received
  }

  /// Waits for the program to end, and returns its exit code.
  @discardableResult
  func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F == 0 ? status >> 8 & 0xFF : -1
  }

  func end() {
    kill(process, SIGKILL)
    wait()
  }
}
