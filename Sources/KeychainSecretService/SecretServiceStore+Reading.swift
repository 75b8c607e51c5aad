public import KeychainCredentials
internal import KeychainSecrets

extension SecretServiceStore {
  /// Returns a secret; see the protocol.
  ///
  /// - Parameter identity: What names the credential. Another program's item is found by the names that
  ///   the program gave it, if there is none of ours and the access group is the unnamed one.
  /// - Returns: The secret with its credential, or `nil` if there is none.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if the keyring is locked and nobody
  ///   may be asked, ``KeychainError/Code/ambiguous`` if several items of other programs have the name,
  ///   ``KeychainError/Code/damaged``, ``KeychainError/Code/noStore`` or ``KeychainError/Code/timedOut``.
  public func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    try run { operation throws(KeychainError) in
      let finder = try ItemFinder(operation)
      guard let found = try finder.item(identity) else { return nil }
      guard let stored = try operation.secret(of: found.item) else { return nil }
      guard found.isOurs else {
        return StoredSecret(credential: found.credential, secret: stored)
      }
      guard let secret = try StoredText.decode(stored) else { throw .damagedItem(found.item) }
      return StoredSecret(credential: found.credential, secret: secret)
    }
  }

  /// Returns a credential without its secret; see the protocol.
  ///
  /// - Parameter identity: What names the credential.
  /// - Returns: The credential, or `nil` if there is none.
  /// - Throws: As ``secret(for:)``.
  public func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    try run { operation throws(KeychainError) in
      try ItemFinder(operation).item(identity)?.credential
    }
  }
}

extension ServiceOperation {
  /// Reads a secret as it is stored; `nil` if the item went away.
  ///
  /// An item may be locked by itself:
  /// KeePassXC can ask about each.
  func secret(of item: ServiceItem) throws(KeychainError) -> SecretBytes? {
    if item.isLocked { try unlock(item.path) }
    let session = try session()
    let get = call(item.path, Self.itemInterface, "GetSecret", [.objectPath(session.path)])
    var answer = results(of: [get])
    if case .failure(.isLocked)? = answer.first {
      try unlock(item.path)
      answer = results(of: [get])
    }
    do throws(BusError) {
      guard case .secret(let encrypted)? = try answer.first?.get().elements.first else {
        throw .failed
      }
      guard let secret = try? session.decrypt(encrypted) else { throw .noSession }
      return secret
    } catch {
      if error.isMissingObject { return nil }
      throw KeychainError(error)
    }
  }
}
