public import KeychainCredentials
internal import KeychainVaultFormat

// Reads within the transaction.
extension VaultTransaction {
  /// Returns a secret as it is within the transaction; see ``CredentialStore/secret(for:)``.
  ///
  /// - Parameter identity: The identity of the credential.
  /// - Returns: The secret with its credential, or `nil` if there is none.
  /// - Throws: ``KeychainError`` as that method.
  public mutating func secret(
    for identity: CredentialIdentity
  ) throws(KeychainError) -> StoredSecret? {
    guard let item = try item(identity) else { return nil }
    return StoredSecret(
      credential: try writer.sealing.credential(of: item, name: "\(identity)"),
      secret: try writer.sealing.secret(of: item, in: writer.contents, name: "\(identity)"))
  }

  /// Returns a credential as it is within the transaction; see ``CredentialStore/credential(for:)``.
  ///
  /// - Parameter identity: The identity of the credential.
  /// - Returns: The credential, or `nil` if there is none.
  /// - Throws: ``KeychainError`` as that method.
  public mutating func credential(
    for identity: CredentialIdentity
  ) throws(KeychainError) -> Credential? {
    guard let item = try item(identity) else { return nil }
    return try writer.sealing.credential(of: item, name: "\(identity)")
  }

  /// Returns the credentials that match a query within the transaction; see
  /// ``CredentialStore/search(_:)``.
  ///
  /// - Parameter query: The conditions.
  /// - Returns: What was found. Locked items are reported in it; name what must be unlocked first
  ///   when the transaction begins.
  /// - Throws: ``KeychainError`` as that method.
  public mutating func search(
    _ query: CredentialQuery
  ) throws(KeychainError) -> CredentialSearchResult {
    try log.requireWhole()
    return try VaultSearch(contents: writer.contents, sealing: writer.sealing).run(query)
  }

  private mutating func item(
    _ identity: CredentialIdentity
  ) throws(KeychainError) -> VaultItem? {
    try log.requireWhole()
    try requireAllowed(identity)
    let sealing = writer.sealing
    guard let item = try writer.item(sealing.id(of: identity), name: "\(identity)") else {
      return nil
    }
    guard sealing.isOfOtherDevice(item.entry) || sealing.keys.satisfies(item.requirement) else {
      throw log.begin(again: item.requirement)
    }
    return item
  }
}
