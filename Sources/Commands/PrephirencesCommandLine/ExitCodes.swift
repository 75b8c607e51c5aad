/// The exit codes of the commands, which scripts can rely on.
package enum ExitCodes {
  package static let success: Int32 = 0
  package static let otherFailure: Int32 = 1
  package static let notFound: Int32 = 44
  package static let usage: Int32 = 64
  package static let badData: Int32 = 65
  package static let noStore: Int32 = 69
  package static let internalFailure: Int32 = 70
  package static let insufficientMemory: Int32 = 71
  package static let inputOutput: Int32 = 74
  package static let tryAgain: Int32 = 75
  package static let ambiguous: Int32 = 76
  package static let locked: Int32 = 77
  package static let incorrectSecret: Int32 = 78
  package static let refused: Int32 = 79
  package static let expired: Int32 = 80
  package static let outcomeUnknown: Int32 = 81
  package static let notStarted: Int32 = 126
  package static let commandNotFound: Int32 = 127
  package static let cancelled: Int32 = 130

  /// All exit codes in order, with their meanings.
  package static let all: [(code: Int32, meaning: String)] = [
    (success, "done"),
    (otherFailure, "another failure"),
    (notFound, "not found"),
    (usage, "wrong use of the command"),
    (badData, "damaged, tampered with, foreign, or rolled back"),
    (noStore, "no store available"),
    (internalFailure, "internal error"),
    (insufficientMemory, "not enough memory"),
    (inputOutput, "input or output failed"),
    (tryAgain, "timed out, busy, or changed or made by somebody else in between"),
    (ambiguous, "several items match"),
    (locked, "locked"),
    (incorrectSecret, "wrong passphrase or key"),
    (refused, "refused: permissions, policy, another device's item, a newer format"),
    (expired, "expired"),
    (outcomeUnknown, "may have happened: look before you repeat it"),
    (cancelled, "cancelled"),
  ]
}
