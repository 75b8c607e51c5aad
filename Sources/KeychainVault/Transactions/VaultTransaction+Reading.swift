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
    guard let row = try row(of: identity) else { return nil }
    return try writer.sealing.opened(row, group: identity.accessGroup, name: "\(identity)").stored()
  }

  /// Returns a credential as it is within the transaction; see ``CredentialStore/credential(for:)``.
  ///
  /// - Parameter identity: The identity of the credential.
  /// - Returns: The credential, or `nil` if there is none.
  /// - Throws: ``KeychainError`` as that method.
  public mutating func credential(
    for identity: CredentialIdentity
  ) throws(KeychainError) -> Credential? {
    guard let row = try row(of: identity) else { return nil }
    return try writer.sealing.credential(in: row, group: identity.accessGroup, name: "\(identity)")
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
    let proven: ProvenVault
    do throws(KeychainError) {
      // This writes the trees, so a failure can only be undone.
      proven = try writer.provenNow()
    } catch {
      log.noteFailure(error)
      throw error
    }
    var search = VaultSearch(rows: writer.rows, sealing: writer.sealing, proven: proven)
    return try search.run(query)
  }

  private mutating func row(of identity: CredentialIdentity) throws(KeychainError) -> ItemRow? {
    try log.requireWhole()
    try requireAllowed(identity)
    let sealing = writer.sealing
    guard let row = try writer.item(sealing.id(of: identity), name: "\(identity)") else {
      return nil
    }
    let requirement = row.accessibility.unlockRequirement
    guard sealing.isOfOtherDevice(row) || sealing.keys.satisfies(requirement) else {
      throw log.begin(again: requirement)
    }
    return row
  }
}
