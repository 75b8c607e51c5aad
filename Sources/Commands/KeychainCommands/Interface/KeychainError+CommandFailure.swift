internal import KeychainCredentials
internal import PrephirencesCommandLine

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
