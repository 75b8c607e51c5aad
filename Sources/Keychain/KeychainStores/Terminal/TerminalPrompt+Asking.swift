internal import Glibc
public import KeychainCredentials
public import KeychainSecrets
internal import PrephirencesSystem
internal import Synchronization

// Questions of the program itself. `Interaction.terminal` asks for what unlocks the vault.
extension TerminalPrompt {
  /// Asks for a secret of the program, such as a token to store.
  ///
  /// ```swift
  /// let token = try TerminalPrompt.askSecret("token for api: ", twice: true)
  /// try keychain.set(token, for: "api")
  /// ```
  ///
  /// Question and answer go through `/dev/tty`, even if standard input and output are redirected.
  /// What is typed is not shown, and never becomes a `String`. Questions are asked one at a time,
  /// and wait two minutes for an answer; the thread is blocked meanwhile. The terminal is restored
  /// after the answer, and also when a signal ends or stops the program. An empty answer is not an
  /// error.
  ///
  /// - Parameters:
  ///   - question: The question, in one line that ends with a colon and a space. Characters that a
  ///     terminal would act on are escaped.
  ///   - twice: Whether to ask again until two answers are equal, at most three times.
  /// - Returns: What was typed, without the end of the line.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` without a terminal, in the
  ///   background, or if `KEYCHAIN_NO_PROMPT` is set to any value; ``KeychainError/Code/cancelled``
  ///   for Control-C, or if the answers keep differing; ``KeychainError/Code/timedOut`` if nobody
  ///   answers; ``KeychainError/Code/tooLarge`` for more than 1 MiB; or
  ///   ``KeychainError/Code/inputOutput``.
  public static func askSecret(
    _ question: String, twice: Bool = false
  ) throws(KeychainError) -> SecretBytes {
    try terminalLock.withLock { _ throws(KeychainError) -> SecretBytes in
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
