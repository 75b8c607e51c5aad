internal import Glibc

/// The controlling terminal, open for questions and answers.
struct Terminal: ~Copyable {
  /// For everything except reading.
  let descriptor: Int32

  /// For reading, and for the pipe of signals; never blocks.
  ///
  /// Control-C discards what was typed before it: a key that `poll` reported may be gone when it is
  /// read. A blocking `read` would then miss the signal, which was caught before. The terminal is
  /// opened again for this descriptor, because a duplicate shares its mode with every other user of
  /// the terminal.
  let input: Int32

  /// Opens `/dev/tty`.
  init() throws(TerminalSession.End) {
    descriptor = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    input = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0, input >= 0 else { throw .unusable(errno: errno) }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    if input >= 0 { close(input) }
  }

  /// Returns whether this process is in the foreground; in the background, reading would stop it.
  borrowing func isInForeground() -> Bool {
    tcgetpgrp(descriptor) == getpgrp()
  }
}
