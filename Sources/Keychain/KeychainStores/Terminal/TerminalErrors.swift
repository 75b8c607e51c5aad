internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesSystem
internal import SystemPackage

extension KeychainError {
  /// Returns the error for a question on the terminal that has no answer.
  init(_ end: TerminalSession.End) {
    switch end {
    case .cancelled, .signal: self.init(.cancelled, "cancelled; nothing was changed")
    case .timedOut: self.init(.timedOut, "nobody answered the question in time")
    case .tooLong: self.init(.tooLarge, "the answer is longer than 1 MiB")
    case .notTaken(let key):
      self.init(.invalidArgument, TerminalText.notTaken(key))
    case .severalLines:
      self.init(
        .invalidArgument,
        "several lines were pasted, and an answer here has one; nothing was changed",
        recovery: "give a text of several lines on standard input: < FILE")
    case .unusable(let code):
      self.init(
        .inputOutput, "the terminal cannot be used: \(Errno(rawValue: code).words)",
        underlying: .system(errno: code))
    case .secrets(let error): self.init(error)
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

/// What is said between two questions.
enum TerminalText {
  /// Returns that a key is no part of an answer.
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
