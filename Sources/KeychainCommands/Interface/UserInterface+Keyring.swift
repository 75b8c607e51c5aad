internal import KeychainCredentials
internal import KeychainStores

extension UserInterface {
  /// What a file of the vault's credentials does not hold.
  static func leftInKeyring(_ credentials: Int, _ services: Int) -> String {
    "\(counted(credentials, "credential")) of \(counted(services, "service")) "
      + "\(are(credentials)) kept in the desktop keyring, and not in this file"
  }

  /// The same, where the credentials cannot be counted.
  static func leftUncounted(_ services: Int, _ failure: KeychainError) -> String {
    "what \(counted(services, "service")) \(services == 1 ? "has" : "have") in the desktop keyring is "
      + "not in this file, and could not be counted: \(failure.message)"
  }

  /// How the vault gets what is in the desktop keyring, of a service or server, or of any.
  static func movingOutOfKeyring(_ service: ServiceName?) -> String {
    "'\(KeychainCommandContext.current.commandPath) migrate --from secret-service --to vault"
      + "\(KeychainCommandContext.current.scopeOption(reaching: service))' copies it into the vault"
  }

  /// `1 service`, `2 services`.
  static func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
