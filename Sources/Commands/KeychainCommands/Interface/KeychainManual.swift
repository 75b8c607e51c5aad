internal import PrephirencesCommandLine

/// The parts of manual pages that no command defines; `Documentation` lists the same variables.
enum KeychainManual {
  /// What the pages of all commands of the keychain have in common, for their host.
  static var common: CommonManual {
    CommonManual(
      mainPage: KeychainCommandContext.current.commandPath.split(separator: " ").map(String.init),
      environment: environment, files: files, exitCodes: ExitCodes.all)
  }

  static let environment: [(name: String, meaning: String)] = [
    (
      "KEYCHAIN_VAULT",
      "the path of the vault, in a folder that exists; in a container, mount its folder and not "
        + "the file"
    ),
    (
      "KEYCHAIN_PASSPHRASE_FILE, KEYCHAIN_KEY_FILE, KEYCHAIN_IDENTITY_FILE",
      "a file that unlocks, or a pipe that was inherited, as <(command); a file may belong to "
        + "root, and must be closed to others"
    ),
    (
      "KEYCHAIN_PASSPHRASE",
      "the passphrase itself, each byte of it; other programs can see it, so prefer a file"
    ),
    (
      "CREDENTIALS_DIRECTORY",
      "set by systemd; keychain.passphrase or keychain.key in it unlocks"
    ),
    (
      "KEYCHAIN_ALLOW_READ",
      "group or others: who may read the files that unlock, besides you and root; for containers, "
        + "and for new files on media without modes"
    ),
    (
      "KEYCHAIN_TRUSTED_FOLDERS",
      "folders, separated by colons, that count as yours regardless of owner and mode; for a "
        + "container's volumes"
    ),
    (
      "KEYCHAIN_NO_PROMPT",
      "if not empty, nobody is asked for anything, by the commands and by the library"
    ),
    (
      "KEYCHAIN_QUIET",
      "if not empty, only errors and questions are written to standard error, as with --quiet"
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
    ("GIT_TERMINAL_PROMPT", "with 0, git-credential asks nothing on the terminal"),
    ("NETRC", "a netrc file, which doctor looks at too; run sets it with --netrc"),
  ]

  static let files: [(path: String, meaning: String)] = [
    ("~/.local/share/keychain/vault", "the vault, unless another is named ($XDG_DATA_HOME)"),
    ("~/.local/state/keychain/device.key", "this machine's key ($XDG_STATE_HOME)"),
    ("~/.local/state/keychain/seen/", "the newest state that was seen of each vault"),
    ("~/.local/state/keychain/stores/", "which store each service has"),
    ("~/.config/keychain/identity", "your identity, if you made one ($XDG_CONFIG_HOME)"),
  ]
}
