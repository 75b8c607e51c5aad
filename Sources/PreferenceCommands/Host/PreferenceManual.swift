internal import PrephirencesCommandLine

/// The parts of manual pages that are in no command's definition.
enum PreferenceManual {
  /// What the pages of all commands have in common.
  static let common = CommonManual(
    mainPage: nil, environment: environment, files: files,
    exitCodes: ExitCodes.all.filter { codes.contains($0.code) })

  private static let codes: Set = [
    ExitCodes.success, ExitCodes.otherFailure, ExitCodes.notFound, ExitCodes.usage,
    ExitCodes.badData, ExitCodes.noStore, ExitCodes.internalFailure, ExitCodes.inputOutput,
    ExitCodes.tryAgain, ExitCodes.refused, ExitCodes.cancelled,
  ]

  private static let environment: [(name: String, meaning: String)] = [
    ("XDG_CONFIG_HOME", "the folder above that of the domains; else .config in the home folder")
  ]

  private static let files: [(path: String, meaning: String)] = []
}
