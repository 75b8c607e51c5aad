public import KeychainSecretService

/// The kinds of store that programs of the user share.
public enum StoreKind: String, CaseIterable, Hashable, Sendable {
  /// The encrypted file: see ``Vault``.
  case vault

  /// The desktop keyring: see ``SecretServiceStore``.
  case secretService = "secret-service"
}

/// What somebody says about which store to use.
public enum StoreChoice: String, CaseIterable, Hashable, Sendable {
  /// Each service's own, and for a new service the one that fits: see ``AutomaticStore``.
  case automatic = "auto"

  /// The vault.
  case vault

  /// The desktop keyring.
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

  /// The kind of store.
  public var kind: StoreKind {
    switch self {
    case .vault: .vault
    case .secretService: .secretService
    }
  }
}
