internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine

extension KeychainError {
  static let vaultOrKeyring = KeychainError(
    .invalidArgument, UsageText.vaultOrKeyring, recovery: "leave one of them out")

  static let emptySecret = KeychainError(
    .invalidArgument, "the secret is empty; nothing was changed",
    recovery: "add --allow-empty if that is meant")

  static let noServerToChange = KeychainError(
    .invalidArgument, "a generic password has no protocol, port or path to change",
    recovery: "add --to-server to make it an internet password")

  static func nobodyToAsk(for subject: Questions.Subject) -> Self {
    switch subject {
    case .secret:
      Self(
        .invalidArgument, "there is no terminal to ask for the secret, or asking is turned off",
        recovery: "give the secret on standard input")
    case .newPassphrase, .optionalPassphrase:
      Self(
        .invalidArgument, "there is no terminal to ask for a passphrase, or asking is turned off",
        recovery: "use --new-passphrase-fd or --new-passphrase-file")
    case .newExportPassphrase, .exportPassphrase:
      Self(
        .invalidArgument,
        "there is no terminal to ask for the passphrase of the export, or asking is turned off",
        recovery: "use --export-passphrase-fd or --export-passphrase-file")
    }
  }

  static let needsConfirmation = KeychainError(
    .invalidArgument, "this needs a yes, and there is no terminal to ask, or asking is turned off",
    recovery: "add --yes if you are sure")

  static let notConfirmed = KeychainError(.cancelled, "cancelled; nothing was changed")

  static func ambiguous(_ identities: [CredentialIdentity]) -> Self {
    let names = identities.map(\.description).joined(separator: "; ")
    return Self(
      .ambiguous, "\(identities.count) credentials match: \(names)",
      recovery: "name more of what you mean, such as the account, --service, --protocol or --port")
  }

  static func nothingMatches(_ attributes: CredentialAttributes) -> Self {
    let names = attributes.map { "'\($0.name)'" }.joined(separator: ", ")
    return Self(.notFound, "there is no credential with these values of \(names)")
  }

  static let noIdentity = KeychainError(.internalFailure, "no identity was named")

  static let noKeyFile = KeychainError(.internalFailure, "no key file was named")
}

extension KeychainError {
  /// Creates the error of the keychain for a failure of the command line.
  init(_ failure: CommandLineError) {
    let code: Code =
      switch failure.exitCode {
      case ExitCodes.usage: .invalidArgument
      case ExitCodes.inputOutput: .inputOutput
      case ExitCodes.refused: .refused
      case ExitCodes.cancelled: .cancelled
      default: .internalFailure
      }
    self.init(
      code, failure.message, recovery: failure.hint.map { .advice($0) },
      underlying: failure.systemError.map { .system(errno: $0) })
  }

  /// The error if standard input was closed when the program began; the recovery names what should
  /// be read.
  static func inputClosed(_ recovery: String) -> Self {
    Self(CommandLineError.inputClosed(recovery))
  }

  static func unreadable(_ source: String) -> Self { Self(CommandLineError.unreadable(source)) }

  static func cannotRead(_ source: String, errno: Int32) -> Self {
    Self(CommandLineError.cannotRead(source, errno: errno))
  }

  static func cannotOpen(_ path: String, errno: Int32) -> Self {
    Self(CommandLineError.cannotOpen(path, errno: errno))
  }

  static func outputFailed(errno: Int32) -> Self {
    Self(CommandLineError.outputFailed(errno: errno))
  }

  static let nobodyReadsOutput = KeychainError(
    .timedOut, "nobody reads the standard output",
    recovery: "look whether its reader hangs, or wait longer with --deadline")

  static func cannotWrite(_ path: String, errno: Int32) -> Self {
    Self(CommandLineError.cannotWrite(path, errno: errno))
  }

  static func notARegularFile(_ path: String) -> Self {
    Self(CommandLineError.notARegularFile(path))
  }
}

extension KeychainError: CommandFailure {
  package var exitCode: Int32 { ExitCodes.code(for: code) }

  package var hint: String? { recovery?.commandText }

  package var systemError: Int32? {
    guard case .system(let errno)? = underlying else { return nil }
    return errno
  }
}

extension ExitCodes {
  /// Returns the exit code of a failure; unknown codes count as other failures.
  static func code(for failure: KeychainError.Code) -> Int32 {
    table[failure] ?? otherFailure
  }

  private static let table: [KeychainError.Code: Int32] = [
    .notFound: notFound,
    .invalidArgument: usage,
    .damaged: badData, .foreign: badData, .rolledBack: badData, .undecodable: badData,
    .noStore: noStore,
    .internalFailure: internalFailure,
    .inputOutput: inputOutput,
    .timedOut: tryAgain, .busy: tryAgain, .versionConflict: tryAgain, .alreadyExists: tryAgain,
    .ambiguous: ambiguous,
    .locked: locked,
    .incorrectSecret: incorrectSecret,
    .refused: refused, .unsupportedFormat: refused, .otherDevice: refused,
    .insecurePermissions: refused, .tooLarge: refused,
    .expired: expired,
    .cancelled: cancelled,
    .insufficientMemory: insufficientMemory,
    .outcomeUnknown: outcomeUnknown,
  ]
}
