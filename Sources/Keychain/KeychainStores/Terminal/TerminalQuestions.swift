internal import Glibc
internal import KeychainSecrets
internal import PrephirencesSystem

/// Questions that belong together: one signal cancels all of them.
struct TerminalQuestions: ~Copyable {
  typealias End = TerminalSession.End

  /// The maximum length of an answer.
  private static let limit = 1 << 20

  let terminal: TerminalSession
  private let signals: PromptSignals
  private let deadline: Deadline?

  /// Hides what is typed, and discards what was typed before the question was shown.
  ///
  /// Throws the reason why there can be no answer.
  init(_ terminal: TerminalSession, _ deadline: Deadline?) throws(End) {
    try terminal.hideInput(dropsTyped: true)
    signals = try PromptSignals()
    self.deadline = deadline
    self.terminal = terminal
  }

  /// Asks and reads a line; asks again after the process was stopped.
  ///
  /// Returns the answer. Throws the reason why there is no answer.
  borrowing func answer(to question: String, isShown: Bool = false) throws(End) -> SecretBytes {
    while true {
      let own = Deadline(after: TerminalPrompt.answerTimeout)
      do throws(End) {
        let answer = try answerUnlessStopped(
          to: question, isShown: isShown, by: deadline.map(own.limited) ?? own)
        if let answer { return answer }
      } catch {
        guard case .notTaken(let key) = error else { throw error }
        // The rest of the sequence that an arrow sends.
        usleep(20_000)
        try terminal.hideInput(dropsTyped: true)
        terminal.write(TerminalText.notTaken(key) + "\n")
      }
    }
  }

  /// Asks and reads a line; returns `nil` if the process was stopped and has continued.
  borrowing func answerUnlessStopped(
    to question: String, isShown: Bool, by deadline: Deadline
  ) throws(End) -> SecretBytes? {
    // In the background, the process is stopped here until it is in the foreground.
    if isShown { try terminal.showInput() } else { try terminal.hideInput() }
    defer { if isShown { try? terminal.hideInput() } else { terminal.write("\n") } }
    terminal.write(question.asQuestion(within: terminal.columns))
    return try line(by: deadline, editsLine: !isShown)
  }

  /// Reads a line; returns `nil` if the process was stopped meanwhile.
  private borrowing func line(
    by deadline: Deadline, editsLine: Bool
  ) throws(End) -> SecretBytes? {
    do {
      var line = LineBuffer(try SecretBuffer(), editsLine: editsLine)
      while true {
        guard let byte = try nextByte(by: deadline) else { return nil }
        guard try line.takes(byte) else { return try line.finish() }
        guard line.count <= Self.limit else { throw End.tooLong }
      }
    } catch let error as SecretsError {
      throw .secrets(error)
    } catch let error as End {
      throw error
    } catch {
      throw .cancelled
    }
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
      // End of input: the terminal is gone, or in line mode the person ended the input.
      if count == 0 { throw .cancelled }
      guard errno == EAGAIN || errno == EINTR else { throw .unusable(errno: errno) }
    }
  }

  /// Waits for a key or a signal; returns `false` if the process was stopped.
  private borrowing func isThereInput(
    by deadline: Deadline
  ) throws(End) -> Bool {
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
