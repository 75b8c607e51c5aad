package import PreferencesCore
internal import PrephirencesCommandLine

extension PreferencesError: CommandFailure {
  package var exitCode: Int32 { Self.exitCodes[code] ?? ExitCodes.otherFailure }

  /// The message says what to do.
  package var hint: String? { nil }

  private static let exitCodes: [Code: Int32] = [
    .notFound: ExitCodes.notFound, .unknownKey: ExitCodes.notFound,
    .invalidName: ExitCodes.usage, .unstorable: ExitCodes.usage,
    .damaged: ExitCodes.badData, .typeMismatch: ExitCodes.badData,
    .noPlace: ExitCodes.noStore,
    .forked: ExitCodes.internalFailure,
    .inputOutput: ExitCodes.inputOutput,
    .timedOut: ExitCodes.tryAgain, .conflict: ExitCodes.tryAgain,
    .readOnly: ExitCodes.refused, .insecure: ExitCodes.refused,
    .unsupportedFormat: ExitCodes.refused,
    .invalidAddress: ExitCodes.usage, .unreachable: ExitCodes.noStore,
    .accessDenied: ExitCodes.refused, .overQuota: ExitCodes.refused,
    .certificate: ExitCodes.refused,
    .locked: ExitCodes.locked, .wrongPassword: ExitCodes.incorrectSecret,
    .foreignStore: ExitCodes.badData,
    .outcomeUnknown: ExitCodes.outcomeUnknown,
  ]
}
