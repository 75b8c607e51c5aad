public import KeychainSecretService

/// Which store a program or its user chooses.
public enum StoreChoice: String, CaseIterable, Hashable, Sendable {
  /// The store of each service; a new service gets the one that fits: see ``AutomaticStore``.
  case automatic = "auto"

  /// The encrypted file: see ``Vault``.
  case vault

  /// The desktop keyring: see ``SecretServiceStore``.
  case secretService = "secret-service"
}

/// Where the credentials of a service are kept.
public enum StorePlace: Hashable, Sendable {
  /// In the vault at its usual place.
  case vault

  /// In a collection of the desktop keyring.
  case secretService(SecretServiceStore.Collection)

  /// Whether its contents are deleted when the session ends, so that nothing must rely on it.
  var endsWithSession: Bool {
    switch self {
    case .vault: false
    case .secretService(let collection): collection.endsWithSession
    }
  }

  /// The name that ``StoreChoice`` and `KEYCHAIN_STORE` use: `vault` or `secret-service`.
  public var name: String {
    switch self {
    case .vault: StoreChoice.vault.rawValue
    case .secretService: StoreChoice.secretService.rawValue
    }
  }

  /// The names of the two stores.
  package static let names = [Self.vault, .secretService(.default)].map(\.name)

  /// Creates the place of a store's name; `nil` if the name is unknown.
  package init?(name: String) {
    switch StoreChoice(rawValue: name) {
    case .vault: self = .vault
    case .secretService: self = .secretService(.default)
    case .automatic, nil: return nil
    }
  }
}
