public import KeychainCredentials
public import KeychainSecrets
internal import PrephirencesSystem

extension SecretServiceStore {
  /// Returns the items of other programs that searches for credentials don't show.
  ///
  /// - Parameter attributes: The attributes that the items must have, with the names that their
  ///   programs use. If empty, all items without names of a credential are returned.
  /// - Returns: The items, ordered by label.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if the keyring is locked and no
  ///   person may be asked, ``KeychainError/Code/noStore`` or ``KeychainError/Code/timedOut``.
  public func unlistedItems(
    matching attributes: CredentialAttributes = [:]
  ) throws(KeychainError) -> [UnlistedItem] {
    let query = CredentialQuery(accessGroup: "", attributes: attributes)
    let found = try run { operation throws(KeychainError) in
      try ItemFinder(operation).items(foundBy: query)
    }
    return found.filter { $0.isUnlisted(by: query) }
      .map { UnlistedItem($0, in: configuration.collection) }
      .sorted { $0.label.hasLesserBytes(than: $1.label) }
  }

  /// Returns the secret of an unlisted item.
  ///
  /// - Parameter item: The item.
  /// - Returns: The secret as its program stored it, or `nil` if the item is gone.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if it is locked and no person
  ///   may be asked, ``KeychainError/Code/refused`` if secrets would not be encrypted securely on
  ///   the bus, ``KeychainError/Code/noStore`` or ``KeychainError/Code/timedOut``.
  public func secret(of item: UnlistedItem) throws(KeychainError) -> SecretBytes? {
    try run { operation throws(KeychainError) in
      let finder = try ItemFinder(operation)
      try finder.unlockIfNeeded()
      // Another item may have its path now.
      guard let found = try finder.items([item.path]).first, found.ours == nil,
        found.attributes == item.attributes
      else { return nil }
      return try operation.secret(of: found)
    }
  }
}
