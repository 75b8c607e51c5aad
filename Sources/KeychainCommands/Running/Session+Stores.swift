internal import Keychain
internal import KeychainSecretService

extension Session {
  /// The stores that services can have, opened as the options say.
  func stores(collection: String?) -> AutomaticStore {
    var secretService = SecretServiceStore.Configuration(
      collection: collection.map { .named($0) } ?? .default,
      interaction: options.noPrompt || Self.environment("KEYCHAIN_NO_PROMPT") != nil
        ? .denied : .allowed)
    if let deadline = options.deadline { secretService.deadline = deadline }
    return AutomaticStore(
      configuration: .init(
        vault: vault.configuration, secretService: secretService,
        notice: vault.configuration.notice))
  }
}

extension AutomaticStore {
  /// Where a kind of store is, with the collection that was chosen.
  func place(of kind: StoreKind) -> StorePlace {
    switch kind {
    case .vault: .vault
    case .secretService: .secretService(configuration.secretService.collection)
    }
  }
}
