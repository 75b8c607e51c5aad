internal import KeychainCredentials

/// The exit codes of the commands; they are a promise to scripts.
enum ExitCodes {
  static let success: Int32 = 0
  static let otherFailure: Int32 = 1
  static let notFound: Int32 = 44
  static let usage: Int32 = 64
  static let badData: Int32 = 65
  static let noStore: Int32 = 69
  static let internalFailure: Int32 = 70
  static let insufficientMemory: Int32 = 71
  static let inputOutput: Int32 = 74
  static let tryAgain: Int32 = 75
  static let ambiguous: Int32 = 76
  static let locked: Int32 = 77
  static let incorrectSecret: Int32 = 78
  static let refused: Int32 = 79
  static let expired: Int32 = 80
  static let cancelled: Int32 = 130

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
  ]
}
