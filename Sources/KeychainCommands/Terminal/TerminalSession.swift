internal import Glibc
internal import KeychainSecrets

/// The terminal while a person is asked; it is put back when the value is destroyed.
struct TerminalSession: ~Copyable {
  /// Why there is no answer.
  enum End: Error {
    case cancelled
    case timedOut
    case signal(Int32)
    case tooLong
    case unusable(errno: Int32)
    case secrets(SecretsError)
  }

  /// The longest answer.
  private static let limit = 1 << 20

  private let terminal: Terminal
  private let saved: termios?
  private let signals: PromptSignals

  /// Opens the terminal.
  ///
  /// - Parameter hidingInput: Whether what is typed stays invisible.
  /// - Throws: ``End/unusable(errno:)``.
  init(hidingInput: Bool) throws(End) {
    let terminal = try Terminal()
    // Signals first: between hiding and catching, one would leave the terminal without echo.
    let signals = try PromptSignals()
    let saved = hidingInput ? try terminal.hideInput() : nil
    self.terminal = terminal
    self.signals = signals
    self.saved = saved
  }

  deinit {
    // Flushing drops the rest of a pasted secret, which the shell would run otherwise.
    if let saved { terminal.restore(saved) }
  }

  /// Shows text to the person.
  borrowing func write(_ text: String) {
    writeAll(text, to: terminal.descriptor)
  }

  /// Shows a secret without making a string of it.
  borrowing func write(_ secret: borrowing SecretBytes) {
    try? secret.write(toFileDescriptor: terminal.descriptor)
  }

  /// Changes to an empty screen beside the usual one, whose contents no scrolling brings back.
  borrowing func openScreen() {
    if hasScreens { write("\u{1B}[?1049h\u{1B}[2J\u{1B}[H") }
  }

  /// Empties that screen, and goes back to the usual one.
  borrowing func closeScreen() {
    if hasScreens { write("\u{1B}[2J\u{1B}[H\u{1B}[?1049l") }
  }

  private var hasScreens: Bool {
    Session.environment("TERM").map { $0 != "dumb" } ?? false
  }

  /// Asks, and reads a line.
  borrowing func answer(
    to question: String, patience: Duration = TerminalPrompt.patience
  ) throws(End) -> SecretBytes {
    write(question)
    defer { if saved != nil { write("\n") } }
    let end = ContinuousClock.now + patience
    do {
      var line = LineBuffer(try SecretBuffer())
      while try line.takes(try nextByte(until: end)) {
        guard line.count <= Self.limit else { throw End.tooLong }
      }
      return try line.finish()
    } catch let error as SecretsError {
      throw .secrets(error)
    } catch let error as End {
      throw error
    } catch {
      throw .cancelled
    }
  }

  private borrowing func nextByte(until end: ContinuousClock.Instant) throws(End) -> UInt8 {
    var byte: UInt8 = 0
    while true {
      try waitForInput(until: end)
      let count = read(terminal.input, &byte, 1)
      if count == 1 { return byte }
      // The end of input: the terminal went away, or in line mode the person ended the input.
      if count == 0 { throw .cancelled }
      guard errno == EAGAIN || errno == EINTR else { throw .unusable(errno: errno) }
    }
  }

  /// Waits for a key, and hears signals meanwhile.
  private borrowing func waitForInput(until end: ContinuousClock.Instant) throws(End) {
    var sources = [
      pollfd(fd: terminal.input, events: Int16(POLLIN), revents: 0),
      pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    while true {
      let left = ContinuousClock.now.duration(to: end)
      guard left > .zero else { throw .timedOut }
      let ready = poll(&sources, 2, Int32(left / .milliseconds(1)) + 1)
      if ready < 0 && errno != EINTR { throw .unusable(errno: errno) }
      if let number = signals.received() { throw .signal(number) }
      if ready > 0 { return }
    }
  }
}
