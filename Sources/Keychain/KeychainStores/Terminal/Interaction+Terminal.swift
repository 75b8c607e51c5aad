internal import KeychainCredentials
internal import KeychainSecrets
public import KeychainVault
internal import Synchronization

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
  /// What is typed is not shown, and never becomes a `String`. Questions are asked one at a time,
  /// and wait two minutes for an answer. The terminal is restored after the answer, and also when a
  /// signal ends or stops the program.
  ///
  /// Without a terminal, in the background, and if `KEYCHAIN_NO_PROMPT` is set to any value, nobody
  /// is asked: calls that need an answer throw ``KeychainError/Code/locked``. Control-C throws
  /// ``KeychainError/Code/cancelled``, and a missing answer ``KeychainError/Code/timedOut``. To ask
  /// for the program's own secrets, see ``TerminalPrompt/askSecret(_:twice:)``.
  public static var terminal: Self {
    .allowed { request throws(KeychainError) -> SecretBytes? in
      try terminalLock.withLock { _ throws(KeychainError) -> SecretBytes in
        guard TerminalPrompt.isUsable else { throw .noTerminal(for: request) }
        let prompt = TerminalPrompt()
        // The program may use its terminal for something else afterwards.
        defer { prompt.close() }
        return try prompt.secret(request.question(from: ProgramName.current))
      }
    }
  }
}

/// Held by the question that uses the terminal.
let terminalLock = Mutex(())
