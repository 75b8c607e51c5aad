internal import Glibc

/// The controlling terminal, open for questions and answers.
struct Terminal: ~Copyable {
  /// For everything but reading.
  let descriptor: Int32

  /// For reading, which never blocks.
  ///
  /// Control-C throws away what was typed before it: a key that `poll` promised may be gone when it is
  /// read. A `read` that waited for the next one would hear nothing of the signal, which was caught
  /// before. The descriptor is opened by itself, since whoever else has the terminal shares the mode
  /// of a duplicate.
  let input: Int32

  /// Opens `/dev/tty`.
  init() throws(TerminalSession.End) {
    descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    input = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
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

  /// Turns off echo and line mode, and returns the settings as they were.
  borrowing func hideInput() throws(TerminalSession.End) -> termios {
    var settings = termios()
    guard tcgetattr(descriptor, &settings) == 0 else { throw .unusable(errno: errno) }
    let saved = settings
    settings.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | IEXTEN)
    withUnsafeMutableBytes(of: &settings.c_cc) { characters in
      characters[Int(VMIN)] = 1
      characters[Int(VTIME)] = 0
    }
    // What was typed before the question was shown is not the answer.
    guard tcsetattr(descriptor, TCSAFLUSH, &settings) == 0 else {
      throw .unusable(errno: errno)
    }
    return saved
  }

  /// Puts the settings back, and drops what was typed and not read.
  borrowing func restore(_ settings: termios) {
    var settings = settings
    tcsetattr(descriptor, TCSAFLUSH, &settings)
  }
}
