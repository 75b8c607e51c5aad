internal import KeychainCredentials
internal import PrephirencesFiles

/// The places of the vault and of its other files, also for processes without a home.
struct Locations: Sendable {
  private let environment: EnvironmentVariables
  private let folders: UserFolders

  init(environment: EnvironmentVariables) {
    self.environment = environment
    folders = UserFolders("keychain", environment: environment)
  }

  /// Whether a variable names the place of the vault; otherwise it follows from the home folder.
  var namesVault: Bool { environment.isSet("KEYCHAIN_VAULT") || folders.namesData }

  /// Whether a variable names the place of the state; otherwise it follows from the home folder.
  var namesState: Bool { folders.namesState }

  /// Returns the path of the vault if none is named.
  func defaultVaultPath() throws(KeychainError) -> String {
    do {
      if let path = try environment.value("KEYCHAIN_VAULT") { return path }
      return try folders.data() + "/vault.db"
    } catch { throw Self.translate(error) }
  }

  /// Returns the folder of the device secret and the seen records.
  func stateFolder() throws(KeychainError) -> String {
    do { return try folders.state() } catch { throw Self.translate(error) }
  }

  /// Returns the folder of the user's configuration: identities.
  func configurationFolder() throws(KeychainError) -> String {
    do { return try folders.configuration() } catch { throw Self.translate(error) }
  }

  private static func translate(_ error: FileError) -> KeychainError {
    guard case .noPlace(let reason) = error.kind else { return KeychainError(error) }
    return KeychainError(
      .noStore, "there is no place for a vault: \(reason)",
      recovery: "set KEYCHAIN_VAULT and XDG_STATE_HOME, or HOME, to folders that stay; "
        + "in a unit of systemd, StateDirectory= is enough")
  }
}
