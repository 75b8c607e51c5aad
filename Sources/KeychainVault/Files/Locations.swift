internal import Glibc
internal import KeychainCredentials
internal import SystemPackage

/// Where things lie, by the XDG base directory specification, also for processes without a home.
struct Locations: Sendable {
  let environment: VaultEnvironment

  /// The path of the vault that is meant when none is named.
  func defaultVaultPath() throws(KeychainError) -> String {
    if let path = environment.value("KEYCHAIN_VAULT") { return path }
    return try base("XDG_DATA_HOME", belowHome: ".local/share") + "/keychain/vault.db"
  }

  /// The folder of the device secret and of the records of what was seen.
  func stateFolder() throws(KeychainError) -> String {
    try base("XDG_STATE_HOME", belowHome: ".local/state") + "/keychain"
  }

  /// The folder of what a person sets up: identities.
  func configurationFolder() throws(KeychainError) -> String {
    try base("XDG_CONFIG_HOME", belowHome: ".config") + "/keychain"
  }

  private func base(_ variable: String, belowHome: String) throws(KeychainError) -> String {
    if let path = environment.absolutePath(variable) { return path }
    if let home = environment.absolutePath("HOME") ?? homeOfUser() { return home + "/" + belowHome }
    // systemd makes this folder for a service that asks for it, and gives a list if for several.
    if let folder = environment.absolutePath("STATE_DIRECTORY")?.split(separator: ":").first {
      return String(folder)
    }
    throw KeychainError(
      .noStore, "there is no place for a vault: no home folder is known",
      recovery: "set KEYCHAIN_VAULT and XDG_STATE_HOME, or HOME")
  }

  /// The home folder of the passwd entry, if it exists and is the user's own: system users often
  /// have `/nonexistent` or `/`.
  private func homeOfUser() -> String? {
    guard let entry = unsafe getpwuid(geteuid()), let folder = unsafe entry.pointee.pw_dir,
      let home = unsafe String(validatingCString: folder), home.hasPrefix("/"),
      let stat = try? Stat(FilePath(home)), stat.type == .directory,
      stat.userID.rawValue == geteuid()
    else { return nil }
    return home
  }
}
