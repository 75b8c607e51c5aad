internal import PrephirencesCommandLine

/// The parts of manual pages that are in no command's definition; `Documentation` lists the same
/// codes and variables.
enum PreferenceManual {
  static let common = CommonManual(
    mainPage: nil,
    environment: [
      ("XDG_CONFIG_HOME", "the folder of the preferences; else .config in the home folder"),
      ("TMPDIR", "the folder of copies of preferences that can only be read; else /tmp"),
      ("NO_COLOR", "if not empty, messages have no colours"),
    ],
    files: [
      ("~/.config/DOMAIN.preferences", "the preferences of a domain ($XDG_CONFIG_HOME)"),
      ("~/.config/DOMAIN.plist", "what UserDefaults has saved; imported once, and kept"),
    ],
    exitCodes: ExitCodes.all.filter { codes.contains($0.code) })

  private static let codes: Set<Int32> = [
    ExitCodes.success, ExitCodes.otherFailure, ExitCodes.notFound, ExitCodes.usage,
    ExitCodes.badData, ExitCodes.noStore, ExitCodes.internalFailure, ExitCodes.inputOutput,
    ExitCodes.tryAgain, ExitCodes.refused, ExitCodes.cancelled,
  ]
}
