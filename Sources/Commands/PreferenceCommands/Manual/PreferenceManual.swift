internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The parts of manual pages that are in no command's definition; `Documentation` lists the same
/// codes and variables.
enum PreferenceManual {
  static let common = CommonManual(
    mainPage: nil,
    environment: [
      ("XDG_CONFIG_HOME", "the folder of the preferences; else .config in the home folder"),
      ("TMPDIR", "the folder of copies of preferences that can only be read; else /tmp"),
      (
        "ETCDCTL_ENDPOINTS, ETCDCTL_CACERT, ETCDCTL_CERT, ETCDCTL_KEY, ETCDCTL_USER",
        "complete an address of a shared store that names no endpoints"
      ),
      ("NO_COLOR", "if not empty, messages have no colours"),
    ],
    files: [
      ("~/.config/DOMAIN.preferences", "the preferences of a domain ($XDG_CONFIG_HOME)"),
      (
        "~/.config/prephirences/shared/DOMAIN.json",
        "where the preferences of a domain are shared with other machines"
      ),
      ("~/.config/DOMAIN.plist", "what UserDefaults has saved; imported once, and kept"),
    ],
    exitCodes: ExitCodes.all.filter { codes.contains($0.code) })

  private static let codes: Set<Int32> = [
    ExitCodes.success, ExitCodes.otherFailure, ExitCodes.notFound, ExitCodes.usage,
    ExitCodes.badData, ExitCodes.noStore, ExitCodes.internalFailure, ExitCodes.inputOutput,
    ExitCodes.tryAgain, ExitCodes.locked, ExitCodes.incorrectSecret, ExitCodes.refused,
    ExitCodes.cancelled,
  ]
}
