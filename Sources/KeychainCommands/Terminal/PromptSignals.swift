internal import Glibc

/// Catches the signals that would end or stop the process while the terminal shows no input.
///
/// A signal becomes a byte in a pipe, so that whoever waits for a key hears it. The handlers as
/// they were come back when the value is destroyed, and get what came too late to be heard.
struct PromptSignals: ~Copyable {
  private static let caught = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  private let pipe: (read: Int32, write: Int32)
  private let saved: [(number: Int32, action: sigaction)]

  init() throws(TerminalSession.End) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw .unusable(errno: errno) }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    pipe = (ends[0], ends[1])
    signalPipe = ends[1]
    var saved: [(number: Int32, action: sigaction)] = []
    for number in Self.caught { saved.append((number, Self.replace(number, by: noteSignal))) }
    // Suspended, the process would leave the shell with a terminal that shows nothing.
    saved.append((SIGTSTP, Self.replace(SIGTSTP, by: SIG_IGN)))
    self.saved = saved
  }

  deinit {
    for (number, action) in saved {
      var action = action
      sigaction(number, &action, nil)
    }
    signalPipe = -1
    while let number = received() { raise(number) }
    close(pipe.read)
    close(pipe.write)
  }

  /// Becomes readable when a signal came.
  var descriptor: Int32 { pipe.read }

  /// The signal that came, if one did.
  borrowing func received() -> Int32? {
    var byte: UInt8 = 0
    return read(pipe.read, &byte, 1) == 1 ? Int32(byte) : nil
  }

  private static func replace(_ number: Int32, by handler: __sighandler_t?) -> sigaction {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = handler
    var old = sigaction()
    sigaction(number, &action, &old)
    return old
  }
}

// nonisolated(unsafe) because a signal handler can use nothing that locks; it is written only while
// no handler that reads it is installed, or by the one thread that prompts.
private nonisolated(unsafe) var signalPipe: Int32 = -1

private let noteSignal: __sighandler_t = { number in
  let savedError = errno
  var byte = UInt8(truncatingIfNeeded: number)
  _ = write(signalPipe, &byte, 1)
  errno = savedError
}
