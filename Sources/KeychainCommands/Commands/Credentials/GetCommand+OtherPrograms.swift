internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainSecrets
internal import KeychainStores

// Items of other programs that have no names of a credential are found by their attributes.
extension GetCommand {
  /// The item of another program that has the attributes; `nil` if there is none.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/ambiguous`` if more than it have them.
  func unlistedItem(in session: Session) throws(KeychainError) -> UnlistedItem? {
    guard account == nil else { return nil }
    let attributes = CredentialAttributes(attribute)
    let result = try session.stores.search(
      scope.narrow(item.query(account: nil, attributes: attributes)))
    guard result.unlistedCount > 0 else { return nil }
    let items = try session.stores.unlistedItems(matching: attributes)
    let credentials = result.credentials.filter(item.matchesDetails(of:))
    guard items.count + credentials.count <= 1 else { throw .ambiguous(credentials, items) }
    return items.first
  }

  /// Prints the secret of such an item.
  func print(_ item: UnlistedItem, in session: Session) throws(KeychainError) {
    guard let secret = try session.stores.secret(of: item) else { throw .unlistedIsGone }
    guard json else { return try write(secret) }
    var answer = UnlistedItemJSON(item)
    secret.withBytes { answer.reveal($0) }
    try StandardOutput.write(try JSONText.text(answer))
  }
}
