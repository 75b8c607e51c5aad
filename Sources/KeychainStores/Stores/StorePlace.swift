public import KeychainSecretService

/// What a program or its user says about which store to use.
public enum StoreChoice: String, CaseIterable, Hashable, Sendable {
  /// Each service's own, and for a new service the one that fits: see ``AutomaticStore``.
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

  /// Whether what is stored there is gone after the session, so that nothing must rely on it.
  var endsWithSession: Bool {
    switch self {
    case .vault: false
    case .secretService(let collection): collection.endsWithSession
    }
  }

  /// The name by which ``StoreChoice`` and `KEYCHAIN_STORE` choose the store: `vault` or `secret-service`.
  public var name: String {
    switch self {
    case .vault: StoreChoice.vault.rawValue
    case .secretService: StoreChoice.secretService.rawValue
    }
  }

  /// The names of the two stores.
  package static let names = [Self.vault, .secretService(.default)].map(\.name)

  /// The vault or the default collection of the desktop keyring; `nil` if no store has the name.
  package init?(name: String) {
    switch StoreChoice(rawValue: name) {
    case .vault: self = .vault
    case .secretService: self = .secretService(.default)
    case .automatic, nil: return nil
    }
  }
}
