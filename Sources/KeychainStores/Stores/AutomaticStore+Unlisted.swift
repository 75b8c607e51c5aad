public import KeychainCredentials
public import KeychainSecretService
public import KeychainSecrets

extension AutomaticStore {
  /// Returns the items of other programs that searches for credentials don't show, of each desktop keyring in
  /// use; see ``SecretServiceStore/unlistedItems(matching:)``.
  ///
  /// - Parameter attributes: What they must all have, by the names that their programs use.
  /// - Returns: The items; none if the vault alone is in use.
  /// - Throws: ``KeychainError`` of a keyring.
  public func unlistedItems(
    matching attributes: CredentialAttributes = [:]
  ) throws(KeychainError) -> [UnlistedItem] {
    let explicit = try chooser.explicit()?.place
    let places = if let explicit { [explicit] } else { try placesInUse().places }
    var paths: Set<String> = []
    var items: [UnlistedItem] = []
    for place in places {
      guard let keyring = store(at: place) as? SecretServiceStore else { continue }
      // The default collection may also be in use by its label.
      items += try keyring.unlistedItems(matching: attributes)
        .filter { paths.insert($0.path).inserted }
    }
    return items
  }

  /// Whether searches leave the desktop keyring out although there is a session bus: no service has its
  /// credentials there, and nobody has chosen a store.
  package var leavesKeyringOut: Bool {
    guard explicitPlace == nil, let places = try? placesInUse().places,
      !places.contains(where: { $0.kind == .secretService })
    else { return false }
    return SecretServiceStore(configuration: configuration.secretService).findsBus
  }

  /// Returns the secret of such an item; see ``SecretServiceStore/secret(of:)``.
  ///
  /// - Parameter item: The item.
  /// - Returns: The secret as its program stored it, or `nil` if the item is gone.
  /// - Throws: ``KeychainError`` of the keyring.
  public func secret(of item: UnlistedItem) throws(KeychainError) -> SecretBytes? {
    try (store(at: .secretService(item.collection)) as? SecretServiceStore)?.secret(of: item)
  }
}
