internal import CPrephirencesSystem
internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
public import KeychainVault
internal import PrephirencesSystem
internal import SystemPackage

/// The terminal while a program asks.
///
/// It is restored when the object is destroyed, and by a signal that ends or stops the process.
final class TerminalSession: Sendable {
  /// The reason why there is no answer.
  enum End: Error {
    case cancelled
    case timedOut
    case signal(Int32)
    case tooLong

    /// The typed key cannot be part of an answer.
    case notTaken(UInt8)

    /// Several lines were pasted instead of one answer.
    case severalLines
    case unusable(errno: Int32)

    /// Another process asked, and its answer may be enough.
    case otherAsked

    /// Another process has the turn to ask on the terminal.
    case busy(TerminalTurn.Failure)
    case failed(KeychainError)
  }

  private let terminal: Terminal

  /// The turn; `nil` if there can be no lock.
  private let turn: TerminalTurn?

  init() throws(End) {
    let terminal = try Terminal()
    var lock: Int32 = -1
    do throws(FileError) {
      let turn = try TerminalTurn(on: terminal.descriptor)
      lock = turn.descriptor.rawValue
      self.turn = consume turn
    } catch {
      turn = nil
      writeAll(TerminalText.noTurn(error) + "\n", to: terminal.descriptor)
    }
    let failure = cterminal_begin(terminal.descriptor, terminal.input, lock)
    guard failure == 0 else { throw .unusable(errno: failure) }
    self.terminal = terminal
  }

  deinit { cterminal_end() }

  /// The descriptor for reading; see ``Terminal/input``.
  var input: Int32 { terminal.input }
  var columns: Int { TerminalWidth.columns(of: terminal.descriptor) ?? TerminalWidth.usual }

  /// Shows text to the person.
  func write(_ text: String) { writeAll(text, to: terminal.descriptor) }

  /// Shows a secret without making a string of it.
  func write(_ secret: borrowing SecretBytes) {
    try? secret.write(toFileDescriptor: terminal.descriptor)
  }

  /// Waits until no other process asks on the terminal, and returns whether one did; calls `hear`
  /// repeatedly meanwhile.
  ///
  /// The turn is kept until the process is stopped.
  func takeTurn(_ deadline: Deadline?, _ hear: () throws(End) -> Void) throws(End) -> Bool {
    var error = cterminal_take_turn()
    guard error == EAGAIN else {
      guard error == 0 else { throw .unusable(errno: error) }
      return false
    }
    let failure = try waitForTurn(deadline) { () throws(End) in
      try hear()
      error = cterminal_take_turn()
      return error != EAGAIN
    }
    if let failure { throw .busy(failure) }
    guard error == 0 else { throw .unusable(errno: error) }
    return true
  }

  private func waitForTurn(
    _ deadline: Deadline?, until isTaken: () throws(End) -> Bool
  ) throws(End) -> TerminalTurn.Failure? {
    switch turn {
    case .some(let turn): return try turn.wait(deadline, until: isTaken)
    case .none: return nil
    }
  }

  /// Hides input, or shows it and lets the terminal edit the line; `false` if another process has
  /// the turn.
  func showInput(_ shows: Bool, dropsTyped: Bool = false) throws(End) -> Bool {
    let failure = cterminal_show_input(shows, dropsTyped)
    guard failure == 0 || failure == EAGAIN else { throw .unusable(errno: failure) }
    return failure == 0
  }

  /// Switches to an empty screen, whose contents cannot be scrolled back to.
  func openScreen() { if hasScreens { cterminal_open_screen() } }

  /// Clears that screen, and switches back to the usual one.
  func closeScreen() { if hasScreens { cterminal_close_screen() } }

  private var hasScreens: Bool {
    guard let name = unsafe getenv("TERM").flatMap({ unsafe String(validatingCString: $0) }) else {
      return false
    }
    return !name.isEmpty && name != "dumb"
  }
}

/// A line that is being typed, with its editing keys.
struct LineBuffer: ~Copyable {
  private var bytes: SecretBuffer
  private let editsLine: Bool

  /// The beginning of a mark that a terminal sends around pasted text.
  private var mark: [UInt8] = []

  init(_ bytes: consuming SecretBuffer, editsLine: Bool) {
    self.bytes = bytes
    self.editsLine = editsLine
  }

  var count: Int { bytes.count }

  /// Processes a byte from the terminal; `false` if it ends the line.
  mutating func takes(_ byte: UInt8) throws -> Bool {
    if editsLine, !mark.isEmpty || byte == Key.escape {
      mark.append(byte)
      guard let whole = Key.pasteMarks.first(where: { $0.starts(with: mark) }) else {
        throw TerminalSession.End.notTaken(Key.escape)
      }
      if mark.count == whole.count { mark = [] }
      return true
    }
    switch byte {
    case Key.enter, Key.newline: return false
    case Key.interrupt: throw TerminalSession.End.cancelled
    case Key.endOfInput where bytes.count == 0: throw TerminalSession.End.cancelled
    case Key.endOfInput: break
    case Key.backspace, Key.delete: removeCharacter()
    case Key.killLine: bytes.removeLast(bytes.count)
    case Key.killWord: removeWord()
    case 0..<0x20 where editsLine: throw TerminalSession.End.notTaken(byte)
    default: try bytes.append(byte)
    }
    return true
  }

  /// Returns the line, and wipes the buffer.
  consuming func finish() throws(KeychainError) -> SecretBytes { try bytes.finish() }

  /// Removes a whole UTF-8 character.
  private mutating func removeCharacter() {
    while let last = bytes.last, 0x80...0xBF ~= last { bytes.removeLast(1) }
    bytes.removeLast(1)
  }

  /// Removes the last word, and the spaces after it.
  private mutating func removeWord() {
    let space = UInt8(ascii: " ")
    while bytes.last == space { bytes.removeLast(1) }
    while let last = bytes.last, last != space { bytes.removeLast(1) }
  }

  private enum Key {
    static let interrupt: UInt8 = 0x03
    static let endOfInput: UInt8 = 0x04
    static let backspace: UInt8 = 0x08
    static let newline: UInt8 = 0x0A
    static let enter: UInt8 = 0x0D
    static let killLine: UInt8 = 0x15
    static let killWord: UInt8 = 0x17
    static let escape: UInt8 = 0x1B
    static let delete: UInt8 = 0x7F

    /// Bracketed paste: a shell or an editor may have left the terminal in that mode.
    static let pasteMarks = [Array("\u{1B}[200~".utf8), Array("\u{1B}[201~".utf8)]
  }
}

/// Catches the signals that arrive while a question waits for its answer.
///
/// A signal becomes a byte in a pipe, so that it ends waiting for a key. A later signal has its
/// usual effect.
struct PromptSignals: ~Copyable {
  private let pipe: (read: FileDescriptor, write: FileDescriptor)

  init() throws(TerminalSession.End) {
    do throws(Errno) {
      pipe = try DescriptorIO.pipe(flags: O_NONBLOCK)
    } catch { throw .unusable(errno: error.rawValue) }
    cterminal_listen(pipe.write.rawValue)
  }

  deinit {
    cterminal_listen(-1)
    while let number = next() {
      if number != SIGCONT { raise(number) }
    }
    try? pipe.read.close()
    try? pipe.write.close()
  }

  /// Becomes readable when a signal has arrived.
  var descriptor: Int32 { pipe.read.rawValue }

  /// Handles the signals that have arrived; `true` if the process was stopped and has continued.
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
    return unsafe read(pipe.read.rawValue, &byte, 1) == 1 ? Int32(byte) : nil
  }
}

/// The controlling terminal, open for questions and answers.
struct Terminal: ~Copyable {
  /// The descriptor for everything except reading.
  let descriptor: Int32

  /// The descriptor for reading, and for the pipe of signals, which never blocks.
  ///
  /// Control-C discards earlier input: a key that `poll` reported may be gone when it is read. A
  /// blocking `read` would then miss the signal, which was caught before. The terminal is opened
  /// again for this descriptor, because a duplicate shares its mode with every other user of the
  /// terminal.
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
  borrowing func isInForeground() -> Bool { tcgetpgrp(descriptor) == getpgrp() }
}

extension KeychainError {
  /// Returns the error for a question on the terminal that has no answer.
  init(_ end: TerminalSession.End) {
    switch end {
    case .cancelled, .signal: self.init(.cancelled, "cancelled; nothing was changed")
    case .timedOut: self.init(.timedOut, "nobody answered the question in time")
    case .tooLong: self.init(.tooLarge, "the answer is longer than 1 MiB")
    case .notTaken(let key): self.init(.invalidArgument, TerminalText.notTaken(key))
    case .severalLines:
      self.init(
        .invalidArgument,
        "several lines were pasted, and an answer here has one; nothing was changed",
        recovery: "give a text of several lines on standard input: < FILE")
    case .unusable(let code):
      self.init(
        .inputOutput, "the terminal cannot be used: \(Errno(rawValue: code).words)",
        underlying: .system(errno: code))
    case .otherAsked: self = .otherQuestionEnded
    case .busy(.isOwn): self.init(.unusable(errno: EBUSY))
    case .busy(let failure):
      self.init(
        .timedOut, "\(failure); nothing was changed",
        recovery: failure.advice.map { "\($0)" })
    case .failed(let error): self = error
    }
  }

  static let answersKeepDiffering = KeychainError(
    .cancelled, "the two answers differed three times; nothing was changed")

  static func noTerminal(for request: PassphraseRequest) -> Self {
    Self(
      .locked,
      "the vault \(request.vaultPath) is locked, and there is no terminal to ask for the "
        + "\(request.kind)",
      recovery: .unlockOrGivePassphrase)
  }

  static let nobodyToAskForSecret = KeychainError(
    .refused, "there is no terminal to ask for a secret, or asking is turned off",
    recovery: "run it in a terminal, without KEYCHAIN_NO_PROMPT")
}

/// Texts between two questions.
enum TerminalText {
  /// Says that questions of other processes are not waited for.
  static func noTurn(_ error: FileError) -> String {
    "\(ProgramName.current): other questions on this terminal are not waited for: \(error.message)"
      .visible
  }

  /// Says that a key cannot be part of an answer.
  static func notTaken(_ key: UInt8) -> String {
    let name =
      switch key {
      case 0x09: "Tab"
      case 0x1B: "a key such as Escape or an arrow"
      default: "Control-\(Character(Unicode.Scalar(key | 0x40)))"
      }
    return "\(name) cannot be part of an answer; type the answer again"
  }
}

extension Notice {
  /// Writes a notice to standard error, as a line that begins with the program's name.
  ///
  /// A command-line program passes it as the closure for notices:
  ///
  /// ```swift
  /// let keychain = KeychainPreferences(
  ///   service: "com.example.deploy", interaction: .terminal, notice: Notice.writeToStandardError)
  /// ```
  ///
  /// Characters that a terminal would interpret are escaped. Write errors are ignored.
  @Sendable
  public static func writeToStandardError(_ notice: Notice) {
    let message = notice.description.replacing("`", with: "'").visible
    writeAll("\(ProgramName.current): \(message)\n", to: STDERR_FILENO)
  }
}

/// The program's name in messages.
enum ProgramName {
  static var current: String {
    let name = CommandLine.arguments.first?.split(separator: "/").last.map(String.init)
    return name.flatMap { $0.isEmpty ? nil : $0.visible } ?? "keychain"
  }
}
