/// The parts of manual pages that are in no command's definition; `Documentation` lists the same
/// codes and variables.
enum ManualText {
  /// The date of the last revision of this text; no page contains the date or place of its build.
  static let date = "2026-11-21"
  static let volume = "User Commands"
  static let also = "Also called"

  /// Every exit code in order, with its meaning.
  static let exitCodes: [(code: Int32, meaning: String)] = [
    (ExitCodes.success, "done"),
    (ExitCodes.otherFailure, "another failure"),
    (ExitCodes.notFound, "not found"),
    (ExitCodes.usage, "wrong use of the command"),
    (ExitCodes.badData, "damaged, tampered with, foreign, or rolled back"),
    (ExitCodes.noStore, "no store available"),
    (ExitCodes.internalFailure, "internal error"),
    (ExitCodes.insufficientMemory, "not enough memory"),
    (ExitCodes.inputOutput, "input or output failed"),
    (ExitCodes.tryAgain, "timed out, busy, or changed or made by somebody else in between"),
    (ExitCodes.ambiguous, "several items match"),
    (ExitCodes.locked, "locked"),
    (ExitCodes.incorrectSecret, "wrong passphrase or key"),
    (ExitCodes.refused, "refused: permissions, policy, another device's item, a newer format"),
    (ExitCodes.expired, "expired"),
    (ExitCodes.cancelled, "cancelled"),
  ]

  static let environment: [(name: String, meaning: String)] = [
    ("KEYCHAIN_VAULT", "the path of the vault"),
    (
      "KEYCHAIN_PASSPHRASE_FILE, KEYCHAIN_KEY_FILE, KEYCHAIN_IDENTITY_FILE",
      "a file that unlocks; it may belong to root, and must be closed to others"
    ),
    (
      "KEYCHAIN_PASSPHRASE",
      "the passphrase itself; other programs can see it, so prefer a file"
    ),
    (
      "CREDENTIALS_DIRECTORY",
      "set by systemd; keychain.passphrase or keychain.key in it unlocks"
    ),
    (
      "KEYCHAIN_ALLOW_READ",
      "group or others: who may read the files that unlock, besides you and root; for containers"
    ),
    (
      "KEYCHAIN_TRUSTED_FOLDERS",
      "folders, with colons between them, that count as yours whoever owns or can change them; for a "
        + "container's volumes"
    ),
    (
      "KEYCHAIN_NO_PROMPT",
      "if not empty, nobody is asked for anything, by the commands and by the library"
    ),
    (
      "KEYCHAIN_STORE",
      "vault, secret-service (the desktop keyring) or auto; --store decides before it"
    ),
    (
      "DBUS_SESSION_BUS_ADDRESS",
      "the session bus on which the desktop keyring is; else bus in $XDG_RUNTIME_DIR"
    ),
    ("SSH_TTY", "if not empty, no dialog is shown on the desktop"),
  ]

  static let files: [(path: String, meaning: String)] = [
    ("~/.local/share/keychain/vault.db", "the vault, unless another is named ($XDG_DATA_HOME)"),
    ("~/.local/state/keychain/device.key", "this machine's key ($XDG_STATE_HOME)"),
    ("~/.local/state/keychain/seen/", "the newest state that was seen of each vault"),
    ("~/.local/state/keychain/stores/", "which store each service has"),
    ("~/.config/keychain/identity", "your identity, if you made one ($XDG_CONFIG_HOME)"),
  ]
}
