internal import KeychainCredentials

/// Where things lie, by the XDG base directory specification, also for processes without a home.
struct Locations: Sendable {
  let environment: VaultEnvironment

  /// Whether a variable names the place of the vault; else it follows from the home folder.
  var namesVault: Bool {
    environment.value("KEYCHAIN_VAULT") != nil || environment.absolutePath("XDG_DATA_HOME") != nil
  }

  /// Whether a variable names the place of the state; else it follows from the home folder.
  var namesState: Bool { environment.absolutePath("XDG_STATE_HOME") != nil }

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
    let home = HomeFolder(environment)
    if case .usable(let path) = home { return path + "/" + belowHome }
    // systemd makes this folder for a service that asks for it, and gives a list if for several.
    if let folder = environment.absolutePath("STATE_DIRECTORY")?.split(separator: ":").first {
      return String(folder)
    }
    throw home.failure
  }
}
