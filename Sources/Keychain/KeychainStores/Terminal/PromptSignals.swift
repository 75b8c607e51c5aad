internal import CPrephirencesSystem
internal import Glibc

/// Catches the signals that arrive while a question waits for its answer.
///
/// A signal becomes a byte in a pipe, so that a wait for a key ends. A signal that arrives too late
/// for that has its usual effect.
struct PromptSignals: ~Copyable {
  private let pipe: (read: Int32, write: Int32)

  init() throws(TerminalSession.End) {
    var ends: [Int32] = [-1, -1]
    guard unsafe Glibc.pipe(&ends) == 0 else { throw .unusable(errno: errno) }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    pipe = (ends[0], ends[1])
    cterminal_listen(pipe.write)
  }

  deinit {
    cterminal_listen(-1)
    while let number = next() {
      if number != SIGCONT { raise(number) }
    }
    close(pipe.read)
    close(pipe.write)
  }

  /// Becomes readable when a signal has arrived.
  var descriptor: Int32 { pipe.read }

  /// Handles the signals that have arrived.
  ///
  /// Returns whether the process was stopped and has continued.
  borrowing func hear() throws(TerminalSession.End) -> Bool {
    var wasStopped = false
    while let number = next() {
      if number == SIGINT { throw .cancelled }
      guard number == SIGCONT else { throw .signal(number) }
      wasStopped = true
    }
    return wasStopped
  }

  private borrowing func next() -> Int32? {
    var byte: UInt8 = 0
    return unsafe read(pipe.read, &byte, 1) == 1 ? Int32(byte) : nil
  }
}
