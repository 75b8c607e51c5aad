public import KeychainCredentials
internal import KeychainStores
public import KeychainVault

extension KeychainPreferences {
  /// Creates preferences of generic passwords for a program that a person uses.
  ///
  /// ```swift
  /// let keychain = KeychainPreferences(service: "com.example.deploy", interaction: .terminal)
  /// ```
  ///
  /// The store is a new ``AutomaticStore``. Nothing is read, created or asked before the first use.
  ///
  /// - Parameters:
  ///   - service: What the credentials are for, such as `com.example.deploy`.
  ///   - accessGroup: The access group; `nil` for the unnamed one.
  ///   - accessibility: When values that are set from now on can be read.
  ///   - interaction: Whether and how a person may be asked for the passphrase of the vault. Unless
  ///     it is denied, the desktop keyring may show its dialogs, too.
  ///   - notice: Called with what a person should know, such as which store the service got; `nil`
  ///     for no notices.
  public convenience init(
    service: String, accessGroup: String? = nil, accessibility: Accessibility = .whenUnlocked,
    interaction: Interaction, notice: (@Sendable (Notice) -> Void)? = nil
  ) {
    self.init(
      service: service, accessGroup: accessGroup, accessibility: accessibility,
      store: AutomaticStore(configuration: .init(interaction: interaction, notice: notice)))
  }

  /// Creates preferences of internet passwords for a program that a person uses.
  ///
  /// - Parameters:
  ///   - server: The host name or address.
  ///   - protocol: The protocol, such as `https`.
  ///   - port: The port, or 0.
  ///   - path: The path on the server.
  ///   - securityDomain: The security domain (realm).
  ///   - authenticationType: The authentication type.
  ///   - accessGroup: The access group; `nil` for the unnamed one.
  ///   - accessibility: When values that are set from now on can be read.
  ///   - interaction: Whether and how a person may be asked for the passphrase of the vault. Unless
  ///     it is denied, the desktop keyring may show its dialogs, too.
  ///   - notice: Called with what a person should know, such as which store the server got; `nil`
  ///     for no notices.
  public convenience init(
    server: String, protocol: String = "", port: UInt16 = 0, path: String = "",
    securityDomain: String = "", authenticationType: String = "", accessGroup: String? = nil,
    accessibility: Accessibility = .whenUnlocked, interaction: Interaction,
    notice: (@Sendable (Notice) -> Void)? = nil
  ) {
    self.init(
      server: server, protocol: `protocol`, port: port, path: path,
      securityDomain: securityDomain, authenticationType: authenticationType,
      accessGroup: accessGroup, accessibility: accessibility,
      store: AutomaticStore(configuration: .init(interaction: interaction, notice: notice)))
  }
}
