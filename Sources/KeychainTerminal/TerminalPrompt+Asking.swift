internal import Glibc
public import KeychainCredentials
public import KeychainSecrets
internal import Synchronization

// What a program asks for itself. What unlocks the vault is asked for by `Interaction.terminal`.
extension TerminalPrompt {
  /// Asks for a secret of the program, such as a token to store.
  ///
  /// ```swift
  /// let token = try TerminalPrompt.askSecret("token for api: ", twice: true)
  /// try keychain.set(token, for: "api")
  /// ```
  ///
  /// Question and answer go through `/dev/tty`, whatever standard input and output lead to. What is typed
  /// is not shown, and never becomes a `String`. One question is asked at a time, and waits two minutes for
  /// its answer; the thread is blocked meanwhile. The terminal is as it was when the answer is there, and also
  /// when a signal ends or stops the program. An empty answer is no error.
  ///
  /// - Parameters:
  ///   - question: What the person reads, in one line that ends with a colon and a space. What a terminal
  ///     would act on is escaped.
  ///   - twice: Whether to ask again, until two answers are equal; three times at most.
  /// - Returns: What was typed, without the end of the line.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` without a terminal, in the background, and
  ///   where `KEYCHAIN_NO_PROMPT` is set to anything; ``KeychainError/Code/cancelled`` for Control-C, or if the
  ///   answers keep differing; ``KeychainError/Code/timedOut`` if nobody answers;
  ///   ``KeychainError/Code/tooLarge`` for more than 1 MiB; or ``KeychainError/Code/inputOutput``.
  public static func askSecret(
    _ question: String, twice: Bool = false
  ) throws(KeychainError) -> SecretBytes {
    try terminalTurn.withLock { _ throws(KeychainError) -> SecretBytes in
      guard !isTurnedOff, isUsable else { throw .nobodyToAskForSecret }
      let prompt = TerminalPrompt()
      // The program may go on to use its terminal for something else.
      defer { prompt.close() }
      let question = question.visible
      guard twice else { return try prompt.secret(question) }
      return try prompt.secretTwice(
        question, again: "the same again: ", mismatch: "the two answers differ; try again")
    }
  }

  /// Whether `KEYCHAIN_NO_PROMPT` is set to anything.
  private static var isTurnedOff: Bool {
    getenv("KEYCHAIN_NO_PROMPT").map { $0.pointee != 0 } ?? false
  }
}
