internal import Glibc

/// The controlling terminal, open for questions and answers.
struct Terminal: ~Copyable {
  /// For everything but reading.
  let descriptor: Int32

  /// For reading, and for what a signal writes, which never block.
  ///
  /// Control-C throws away what was typed before it: a key that `poll` promised may be gone when it is
  /// read. A `read` that waited for the next one would hear nothing of the signal, which was caught
  /// before. The descriptor is opened by itself, since whoever else has the terminal shares the mode
  /// of a duplicate.
  let input: Int32

  /// Opens `/dev/tty`.
  init() throws(TerminalSession.End) {
    descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    input = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0, input >= 0 else { throw .unusable(errno: errno) }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    if input >= 0 { close(input) }
  }

  /// Whether this process is in the foreground; one in the background would be stopped if it read.
  borrowing func isInForeground() -> Bool {
    tcgetpgrp(descriptor) == getpgrp()
  }
}
