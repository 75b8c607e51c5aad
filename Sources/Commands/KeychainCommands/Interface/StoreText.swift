internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainStores
internal import PrephirencesCommandLine

/// The texts about the two stores and their contents.
enum StoreText {
  static func name(of place: StorePlace) -> String {
    switch place {
    case .vault: "vault"
    case .secretService(.default): "desktop keyring"
    case .secretService(.session): "desktop keyring, until the end of the session"
    case .secretService(.named(let label)): "desktop keyring, collection '\(label)'"
    }
  }

  static let onlyOfVault =
    "KEYCHAIN_STORE=secret-service concerns credentials; this is about the vault"

  /// Returns what to do about unreadable records of stores; without the device key, no record is
  /// readable.
  static func findingTheStore(hasDeviceKey: Bool) -> KeychainError.Recovery {
    hasDeviceKey ? .nameStoreAndRemoveRecord : .nameStoreOrRestoreDeviceKey
  }

  /// Returns what to do if the chosen store is not the one that a service has.
  static func lookingElsewhere(_ place: StorePlace) -> String {
    "this service has its credentials in the \(name(of: place)); without the choice of a store, "
      + "that is where they are looked for"
  }

  static let keyringLeftOut =
    "the desktop keyring is not searched, as no service has its credentials there; "
    + "--store secret-service searches it"

  /// Returns what a file of the vault's credentials does not contain.
  static func leftInKeyring(_ credentials: Int, _ services: Int) -> String {
    "\(Words.counted(credentials, "credential")) of \(Words.counted(services, "service")) "
      + "\(Words.are(credentials)) kept in the desktop keyring, and not in this file"
  }

  /// Returns the same if the credentials cannot be counted.
  static func leftUncounted(_ services: Int, _ failure: KeychainError) -> String {
    "what \(Words.counted(services, "service")) \(services == 1 ? "has" : "have") in the desktop keyring is "
      + "not in this file, and could not be counted: \(failure.message)"
  }

  /// Returns how to move credentials of a service or server, or all, from the desktop keyring to
  /// the vault.
  static func movingOutOfKeyring(_ service: ServiceName?) -> String {
    "'\(KeychainCommandContext.current.commandPath) migrate --from secret-service --to vault"
      + "\(KeychainCommandContext.current.scopeOption(reaching: service))' copies it into the vault"
  }
}
