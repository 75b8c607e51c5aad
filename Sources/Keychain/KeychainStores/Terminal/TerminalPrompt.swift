internal import Glibc
public import KeychainSecrets
public import KeychainVault
package import PrephirencesSystem

/// Asks a person.
package protocol Prompt: Sendable {
  /// Ends the questions, and discards unread answers.
  func close()

  /// Asks for a secret.
  func secret(_ question: String) throws(KeychainError) -> SecretBytes

  /// Asks for a secret that unlocks a vault, unless somebody has just answered the same question.
  ///
  /// That answer may have unlocked the vault; then this throws
  /// ``KeychainError/otherQuestionEnded``.
  func unlockingSecret(_ question: String) throws(KeychainError) -> SecretBytes

  /// Asks for a secret twice, until both answers are equal.
  func secretTwice(
    _ question: String, again: String, mismatch: String
  ) throws(KeychainError) -> SecretBytes

  /// Shows a secret, and asks for it until it is typed correctly; `false` if it never was.
  func confirmRetyped(
    _ secret: borrowing SecretBytes, below heading: String, question: String, wrong: String,
    isRight: (borrowing SecretBytes) -> Bool
  ) throws(KeychainError) -> Bool

  /// Asks for agreement.
  func confirm(_ question: String) throws(KeychainError) -> Bool
}

/// Asks a person on the terminal.
///
/// Questions and answers go through `/dev/tty`, even if standard input and output are redirected. A
/// typed secret is not shown, and never becomes a string.
///
/// From the first question until the prompt is closed, the terminal does not show what is typed.
/// Otherwise it would show what a person types while a passphrase is being hashed, or before a late
/// question.
public final class TerminalPrompt: Prompt {
  /// The maximum time for an answer.
  static let answerTimeout: Duration = .seconds(120)

  /// The maximum time for writing something down.
  static let writingTimeout: Duration = .seconds(1200)

  /// How many times two answers may differ.
  private static let attempts = 3

  /// Whether there is a terminal that this process may read: in the background, reading would stop
  /// the process.
  package static var isUsable: Bool {
    do throws(TerminalSession.End) {
      return try Terminal().isInForeground()
    } catch { return false }
  }

  private let session = PosixMutex<TerminalSession?>(nil)

  private let deadline: Deadline?

  /// Creates a prompt; the first question opens the terminal.
  package init(deadline: Deadline? = nil) { self.deadline = deadline }

  /// Restores the terminal, and discards unread input.
  package func close() { session.withLock { $0 = nil } }

  package func secret(_ question: String) throws(KeychainError) -> SecretBytes {
    try inSession { session throws(TerminalSession.End) in try session.answer(to: question) }
  }

  /// Asks for a secret that unlocks a vault, unless another process has just asked on this
  /// terminal.
  ///
  /// The answer to it may have unlocked the vault; then this throws
  /// ``KeychainError/otherQuestionEnded``.
  package func unlockingSecret(_ question: String) throws(KeychainError) -> SecretBytes {
    do throws(KeychainError) {
      return try inSession(yielding: true) { session throws(TerminalSession.End) in
        try session.answer(to: question)
      }
    } catch {
      // Meanwhile the next process may ask or look.
      if error == .otherQuestionEnded { close() }
      throw error
    }
  }

  /// Asks for a secret twice, until both answers are equal.
  package func secretTwice(
    _ question: String, again: String, mismatch: String
  ) throws(KeychainError) -> SecretBytes {
    let answer = try inSession { session throws(TerminalSession.End) -> SecretBytes? in
      for _ in 1...Self.attempts {
        let first = try session.answer(to: question)
        // An empty answer needs no confirmation.
        if first.count == 0 { return first }
        let hasMore = session.hasMore()
        if first.isEqual(to: try session.answer(to: again)) { return first }
        if hasMore { throw .severalLines }
        session.terminal.write(mismatch + "\n")
      }
      return nil
    }
    guard let answer else { throw .answersKeepDiffering }
    return answer
  }

  /// Shows a secret, alone on the screen, and asks for it until it is typed correctly; `false`
  /// after three wrong answers.
  ///
  /// Afterwards, the previous screen is shown again.
  package func confirmRetyped(
    _ secret: borrowing SecretBytes, below heading: String, question: String, wrong: String,
    isRight: (borrowing SecretBytes) -> Bool
  ) throws(KeychainError) -> Bool {
    try inSession { session throws(TerminalSession.End) in
      defer { session.terminal.closeScreen() }
      var (isOnScreen, attempts) = (false, 0)
      while attempts < Self.attempts {
        // While this process was stopped, another one may have begun to ask.
        try session.takeTurn()
        if !isOnScreen { Self.show(secret, below: heading, on: session.terminal) }
        let answer = try session.answerUnlessStopped(
          to: question, isShown: true, by: Deadline(after: Self.writingTimeout))
        // When the process was stopped, the secret was removed from the screen.
        isOnScreen = answer != nil
        guard let answer else { continue }
        if isRight(answer) { return true }
        session.terminal.write(wrong + "\n")
        attempts += 1
      }
      return false
    }
  }

  private static func show(
    _ secret: borrowing SecretBytes, below heading: String, on terminal: TerminalSession
  ) {
    terminal.openScreen()
    terminal.write(heading.asLines(within: terminal.columns))
    terminal.write(secret)
    terminal.write("\n\n")
  }

  /// Asks for agreement; only `y` and `yes` agree.
  package func confirm(_ question: String) throws(KeychainError) -> Bool {
    let answer = try inSession { session throws(TerminalSession.End) in
      try session.answer(to: question, isShown: true)
    }
    return answer.withBytes { bytes in ["y", "yes"].contains(bytes.text?.lowercased()) }
  }

  /// Calls `body` with the terminal, which hides input and catches signals meanwhile.
  private func inSession<Result: ~Copyable>(
    yielding: Bool = false,
    _ body: (borrowing TerminalQuestions) throws(TerminalSession.End) -> Result
  ) throws(KeychainError) -> Result {
    do throws(TerminalSession.End) {
      let questions = try TerminalQuestions(opened(), deadline, yielding: yielding)
      // Input from before the question was shown is not an answer to it.
      try questions.hideInput(dropsTyped: true)
      return try body(questions)
    } catch {
      if case .signal(let number) = error { raise(number) }
      throw KeychainError(error)
    }
  }

  private func opened() throws(TerminalSession.End) -> TerminalSession {
    try session.withLock { session throws(TerminalSession.End) in
      if let session { return session }
      let opened = try TerminalSession()
      session = opened
      return opened
    }
  }

  // Questions of the program itself. `Interaction.terminal` asks for secrets that unlock the vault.

  /// Asks for a secret of the program, such as a token to store, and returns it without the end of
  /// the line.
  ///
  /// ```swift
  /// let token = try TerminalPrompt.askSecret("token for api: ", twice: true)
  /// try keychain.set(token, for: "api")
  /// ```
  ///
  /// Question and answer go through `/dev/tty`, even if standard input and output are redirected.
  /// Input is not shown, and never becomes a `String`. Questions are asked one at a time, including
  /// those of other processes of the user on this terminal, and wait two minutes for an answer; the
  /// thread is blocked meanwhile. The terminal is restored after the answer, and also when a signal
  /// ends or stops the program. An empty answer is not an error.
  ///
  /// - Parameters:
  ///   - question: The question, in one line that ends with a colon and a space. Characters that a
  ///     terminal would interpret are escaped.
  ///   - twice: Whether to ask again until two answers are equal, at most three times.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` without a terminal, in the
  ///   background, or if `KEYCHAIN_NO_PROMPT` is set to any value; ``KeychainError/Code/cancelled``
  ///   for Control-C, or if the answers keep differing; ``KeychainError/Code/timedOut`` if nobody
  ///   answers; ``KeychainError/Code/tooLarge`` for more than 1 MiB; or
  ///   ``KeychainError/Code/inputOutput``.
  public static func askSecret(
    _ question: String, twice: Bool = false
  ) throws(KeychainError) -> SecretBytes {
    try terminalLock.withLock { () throws(KeychainError) -> SecretBytes in
      guard !isTurnedOff, isUsable else { throw .nobodyToAskForSecret }
      let prompt = TerminalPrompt()
      // The program may use its terminal for something else afterwards.
      defer { prompt.close() }
      let question = question.visible
      guard twice else { return try prompt.secret(question) }
      return try prompt.secretTwice(
        question, again: "the same again: ", mismatch: "the two answers differ; try again")
    }
  }

  /// Whether `KEYCHAIN_NO_PROMPT` is set to any value.
  private static var isTurnedOff: Bool {
    unsafe getenv("KEYCHAIN_NO_PROMPT").map { unsafe $0.pointee != 0 } ?? false
  }
}

/// Related questions: one signal cancels all of them.
struct TerminalQuestions: ~Copyable {
  typealias End = TerminalSession.End

  /// The maximum length of an answer.
  private static let limit = 1 << 20

  let terminal: TerminalSession
  private let signals: PromptSignals
  private let deadline: Deadline?

  /// Whether the question ends if another process asks first, because the answer to that may be
  /// enough.
  private let yields: Bool

  /// Catches signals from now on; it throws the reason why there can be no answer.
  init(_ terminal: TerminalSession, _ deadline: Deadline?, yielding yields: Bool) throws(End) {
    signals = try PromptSignals()
    self.deadline = deadline
    self.terminal = terminal
    self.yields = yields
  }

  /// Waits until no other process asks on the terminal.
  borrowing func takeTurn() throws(End) {
    let hadToWait = try terminal.takeTurn(deadline) { () throws(End) in _ = try signals.hear() }
    if hadToWait, yields { throw .otherAsked }
  }

  /// Hides input, and discards earlier input if `dropsTyped` is set.
  borrowing func hideInput(dropsTyped: Bool = false) throws(End) {
    try showInput(false, dropsTyped: dropsTyped)
  }

  private borrowing func showInput(_ shows: Bool, dropsTyped: Bool = false) throws(End) {
    repeat { try takeTurn() } while try !terminal.showInput(shows, dropsTyped: dropsTyped)
  }

  /// Asks and reads a line; throws the reason why there is no answer.
  ///
  /// After the process was stopped, it asks again, or ends with `otherAsked` if it yields.
  borrowing func answer(to question: String, isShown: Bool = false) throws(End) -> SecretBytes {
    while true {
      let own = Deadline(after: TerminalPrompt.answerTimeout)
      do throws(End) {
        let answer = try answerUnlessStopped(
          to: question, isShown: isShown, by: deadline.map(own.limited) ?? own)
        if let answer { return answer }
        // Meanwhile, another process may have asked, and the answer may be enough.
        if yields { throw End.otherAsked }
      } catch {
        guard case .notTaken(let key) = error else { throw error }
        // The arrow key sends more characters.
        usleep(20_000)
        try hideInput(dropsTyped: true)
        terminal.write(TerminalText.notTaken(key) + "\n")
      }
    }
  }

  /// Asks and reads a line; `nil` if the process was stopped and has continued.
  borrowing func answerUnlessStopped(
    to question: String, isShown: Bool, by deadline: Deadline
  ) throws(End) -> SecretBytes? {
    // A process in the background is stopped here until it is in the foreground.
    try showInput(isShown)
    defer { if isShown { _ = try? terminal.showInput(false) } else { terminal.write("\n") } }
    terminal.write(question.asQuestion(within: terminal.columns))
    return try line(by: deadline, editsLine: !isShown)
  }

  /// Reads a line; `nil` if the process was stopped meanwhile.
  private borrowing func line(by deadline: Deadline, editsLine: Bool) throws(End) -> SecretBytes? {
    do {
      var line = LineBuffer(try SecretBuffer(), editsLine: editsLine)
      while true {
        guard let byte = try nextByte(by: deadline) else { return nil }
        guard try line.takes(byte) else { return try line.finish() }
        guard line.count <= Self.limit else { throw End.tooLong }
      }
    } catch let error as KeychainError {
      throw .failed(error)
    } catch let error as End {
      throw error
    } catch { throw .cancelled }
  }

  /// Whether more was typed than was read, as when several lines are pasted.
  borrowing func hasMore() -> Bool {
    var source = pollfd(fd: terminal.input, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&source, 1, 0) > 0
  }

  private borrowing func nextByte(by deadline: Deadline) throws(End) -> UInt8? {
    var byte: UInt8 = 0
    while true {
      guard try isThereInput(by: deadline) else { return nil }
      let count = unsafe read(terminal.input, &byte, 1)
      if count == 1 { return byte }
      // The terminal is gone, or the person ended the input in line mode.
      if count == 0 { throw .cancelled }
      guard errno == EAGAIN || errno == EINTR else { throw .unusable(errno: errno) }
    }
  }

  /// Waits for a key or a signal; `false` if the process was stopped.
  private borrowing func isThereInput(by deadline: Deadline) throws(End) -> Bool {
    var sources = [
      pollfd(fd: terminal.input, events: Int16(POLLIN), revents: 0),
      pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    while true {
      guard !deadline.hasPassed else { throw .timedOut }
      let ready = unsafe poll(&sources, 2, deadline.milliseconds)
      if ready < 0 && errno != EINTR { throw .unusable(errno: errno) }
      if try signals.hear() { return false }
      if ready > 0 { return true }
    }
  }
}

extension String {
  /// The number of free columns after a question: for a space, `yes`, and the cursor.
  private static let roomForAnswer = 5

  /// Returns the question in lines of a terminal, with room for a short answer on the last one.
  package func asQuestion(within columns: Int) -> String {
    var lines = split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    let question = lines.popLast() ?? ""
    let spaces = String(question.reversed().prefix { $0 == " " })
    let words = String(question.dropLast(spaces.count))
    let wrapped = words.wrapped(to: columns, indent: 2, keeping: Self.roomForAnswer) + spaces
    return (lines.map { $0.asLines(within: columns) } + [wrapped]).joined(separator: "\n")
  }

  /// Returns the text with each line wrapped.
  func asLines(within columns: Int) -> String {
    split(separator: "\n", omittingEmptySubsequences: false)
      .map { String($0).wrapped(to: columns, indent: 0) }.joined(separator: "\n")
  }
}

extension PassphraseRequest {
  /// Returns the question as a person reads it.
  package func question(from name: String) -> String {
    let isEither = takesRecoveryCode && kind != .recoveryCode
    let what = isEither ? "\(kind) or recovery code" : "\(kind)"
    let again = failedAttempts > 0 ? "that \(what) is wrong; try again\n" : ""
    return "\(again)\(name): \(what) of \(vaultPath.visible): "
  }
}

extension Interaction {
  /// Asks a person on the terminal of the program.
  ///
  /// The commands of `KeychainCommands` ask without it. A program's own code asks only with it,
  /// whether or not the program mounts these commands.
  ///
  /// ```swift
  /// let keychain = KeychainPreferences(service: "com.example.deploy", interaction: .terminal)
  /// ```
  ///
  /// Question and answer go through `/dev/tty`, even if standard input and output are redirected.
  /// Input is not shown, and never becomes a `String`. Questions are asked one at a time, including
  /// those of other processes of the user on this terminal, and wait two minutes for an answer. If
  /// the answer to another process has unlocked the vault, nobody is asked. The terminal is
  /// restored after the answer, and also when a signal ends or stops the program.
  ///
  /// Without a terminal, in the background, and if `KEYCHAIN_NO_PROMPT` is set to any value, nobody
  /// is asked: calls that need an answer throw ``KeychainError/Code/locked``. Control-C throws
  /// ``KeychainError/Code/cancelled``, and a missing answer ``KeychainError/Code/timedOut``. To ask
  /// for the program's own secrets, see ``TerminalPrompt/askSecret(_:twice:)``.
  public static var terminal: Self {
    .allowed { request throws(KeychainError) -> SecretBytes? in
      try terminalLock.withLock { () throws(KeychainError) -> SecretBytes in
        guard TerminalPrompt.isUsable else { throw .noTerminal(for: request) }
        let prompt = TerminalPrompt()
        // The program may use its terminal for something else afterwards.
        defer { prompt.close() }
        return try prompt.unlockingSecret(request.question(from: ProgramName.current))
      }
    }
  }
}

/// The lock of the question that uses the terminal.
let terminalLock = PosixMutex()
