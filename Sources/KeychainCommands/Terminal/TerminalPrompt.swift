internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets

/// Asks a person on the terminal.
///
/// Questions and answers go through `/dev/tty`, wherever standard input and output lead. What is
/// typed is not shown, and never becomes a string.
struct TerminalPrompt: Sendable {
  /// How long a person may take for an answer.
  static let patience: Duration = .seconds(120)

  /// How long a person may take to write something down.
  static let patienceForWriting: Duration = .seconds(1200)

  /// How often two answers may differ.
  private static let attempts = 3

  /// Whether there is a terminal, and this process may read it: one in the background would be
  /// stopped if it tried.
  static var isUsable: Bool {
    do throws(TerminalSession.End) {
      return try Terminal().isInForeground()
    } catch {
      return false
    }
  }

  /// Asks for a secret.
  func secret(_ question: String) throws(KeychainError) -> SecretBytes {
    try inSession(hidden: true) { session throws(TerminalSession.End) in
      try session.answer(to: question)
    }
  }

  /// Asks for a secret, and again until both answers are equal.
  func secretTwice(
    _ question: String, again: String, mismatch: String
  ) throws(KeychainError) -> SecretBytes {
    let answer = try inSession(hidden: true) {
      session throws(TerminalSession.End) -> SecretBytes? in
      for _ in 1...Self.attempts {
        let first = try session.answer(to: question)
        // An empty answer says what it says; asking for nothing twice helps nobody.
        if first.count == 0 { return first }
        if first.isEqual(to: try session.answer(to: again)) { return first }
        session.write(mismatch + "\n")
      }
      return nil
    }
    guard let answer else { throw .answersKeepDiffering }
    return answer
  }

  /// Shows a secret, alone on the screen, and asks for it until it is given back.
  ///
  /// The screen is as it was before when this returns.
  ///
  /// - Parameters:
  ///   - secret: What is shown.
  ///   - heading: What stands above it.
  ///   - question: What asks for it.
  ///   - wrong: What is said to another answer.
  ///   - isRight: Compares an answer.
  /// - Returns: `false` if it was not given back in three answers.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/cancelled``,
  ///   ``KeychainError/Code/timedOut`` or ``KeychainError/Code/inputOutput``.
  func isGivenBack(
    _ secret: borrowing SecretBytes, below heading: String, question: String, wrong: String,
    isRight: (borrowing SecretBytes) -> Bool
  ) throws(KeychainError) -> Bool {
    try inSession(hidden: false) { session throws(TerminalSession.End) in
      session.openScreen()
      defer { session.closeScreen() }
      session.write(heading)
      session.write(secret)
      session.write("\n\n")
      for _ in 1...Self.attempts {
        let answer = try session.answer(to: question, patience: Self.patienceForWriting)
        if isRight(answer) { return true }
        session.write(wrong + "\n")
      }
      return false
    }
  }

  /// Asks to agree; only `y` and `yes` do.
  func confirm(_ question: String) throws(KeychainError) -> Bool {
    let answer = try inSession(hidden: false) { session throws(TerminalSession.End) in
      try session.answer(to: question)
    }
    return answer.withBytes { bytes in
      ["y", "yes"].contains(bytes.text?.lowercased())
    }
  }

  /// Calls `body` with the terminal set up, and puts the terminal back before anything else
  /// happens, the end by a signal included.
  private func inSession<Result: ~Copyable>(
    hidden: Bool, _ body: (borrowing TerminalSession) throws(TerminalSession.End) -> Result
  ) throws(KeychainError) -> Result {
    do throws(TerminalSession.End) {
      let session = try TerminalSession(hidingInput: hidden)
      return try body(session)
    } catch {
      if case .signal(let number) = error, number != SIGINT { raise(number) }
      throw KeychainError(error)
    }
  }
}
