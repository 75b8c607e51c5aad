internal import Glibc
package import KeychainCredentials
package import KeychainSecrets
package import PrephirencesSystem
internal import Synchronization

/// Asks a person on the terminal.
///
/// Questions and answers go through `/dev/tty`, even if standard input and output are redirected. A
/// secret that is typed is not shown, and never becomes a string.
///
/// From the first question until the prompt is closed, the terminal does not show what is typed.
/// Otherwise it would show what a person types while a passphrase is being hashed, or before a late
/// question.
public final class TerminalPrompt: Sendable {
  /// How long a person may take for an answer.
  static let answerTimeout: Duration = .seconds(120)

  /// How long a person may take to write something down.
  static let writingTimeout: Duration = .seconds(1200)

  /// How many times two answers may differ.
  private static let attempts = 3

  /// Whether there is a terminal that this process may read: in the background, reading would stop
  /// it.
  package static var isUsable: Bool {
    do throws(TerminalSession.End) {
      return try Terminal().isInForeground()
    } catch {
      return false
    }
  }

  private let session = Mutex<TerminalSession?>(nil)

  private let deadline: Deadline?

  /// Creates a prompt; the first question opens the terminal.
  package init(deadline: Deadline? = nil) {
    self.deadline = deadline
  }

  /// Restores the terminal, and discards what was typed and not read.
  package func close() {
    session.withLock { $0 = nil }
  }

  /// Asks for a secret.
  package func secret(_ question: String) throws(KeychainError) -> SecretBytes {
    try inSession { session throws(TerminalSession.End) in try session.answer(to: question) }
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

  /// Shows a secret, alone on the screen, and asks for it until it is typed correctly.
  ///
  /// The previous screen is shown again when this returns.
  ///
  /// Returns `false` if all of three answers were wrong.
  package func confirmRetyped(
    _ secret: borrowing SecretBytes, below heading: String, question: String, wrong: String,
    isRight: (borrowing SecretBytes) -> Bool
  ) throws(KeychainError) -> Bool {
    try inSession { session throws(TerminalSession.End) in
      defer { session.terminal.closeScreen() }
      var (isOnScreen, attempts) = (false, 0)
      while attempts < Self.attempts {
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
    return answer.withBytes { bytes in
      ["y", "yes"].contains(bytes.text?.lowercased())
    }
  }

  /// Calls `body` with the terminal, which hides what is typed and catches signals meanwhile.
  private func inSession<Result: ~Copyable>(
    _ body: (borrowing TerminalQuestions) throws(TerminalSession.End) -> Result
  ) throws(KeychainError) -> Result {
    do throws(TerminalSession.End) {
      return try body(try TerminalQuestions(opened(), deadline))
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
}
