internal import KeychainCredentials
internal import KeychainSecrets
public import KeychainVault
internal import Synchronization

extension Interaction {
  /// A person is asked on the terminal of the program.
  ///
  /// The commands of `KeychainCommands` ask by themselves; a program's own code asks nobody without this,
  /// whether or not the program has these commands.
  ///
  /// ```swift
  /// let keychain = KeychainPreferences(service: "com.example.deploy", interaction: .terminal)
  /// ```
  ///
  /// Question and answer go through `/dev/tty`, whatever standard input and output lead to. What is typed
  /// is not shown, and never becomes a `String`. One question is asked at a time, and waits two minutes for
  /// its answer. The terminal is as it was when the answer is there, and also when a signal ends
  /// or stops the program.
  ///
  /// Without a terminal, in the background, and where `KEYCHAIN_NO_PROMPT` is set to anything, nobody is
  /// asked: what would need it throws ``KeychainError/Code/locked``. Control-C at the question throws
  /// ``KeychainError/Code/cancelled``, and nobody in time ``KeychainError/Code/timedOut``. For secrets of the
  /// program itself, see ``TerminalPrompt/askSecret(_:twice:)``.
  public static var terminal: Self {
    .allowed { request throws(KeychainError) -> SecretBytes? in
      try terminalTurn.withLock { _ throws(KeychainError) -> SecretBytes in
        guard TerminalPrompt.isUsable else { throw .noTerminal(for: request) }
        let prompt = TerminalPrompt()
        // The program may go on to use its terminal for something else.
        defer { prompt.close() }
        return try prompt.secret(request.question(from: ProgramName.current))
      }
    }
  }
}

/// Held by the question that has the terminal.
let terminalTurn = Mutex(())
