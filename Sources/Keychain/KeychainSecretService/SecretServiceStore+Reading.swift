public import KeychainCredentials
internal import KeychainSecrets

extension SecretServiceStore {
  /// Returns a secret; see the protocol.
  ///
  /// - Parameter identity: The identity of the credential. If we have no such item and the access
  ///   group is the unnamed one, another program's item is found by the names that the program gave
  ///   it.
  /// - Returns: The secret with its credential, or `nil` if there is none.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if the keyring is locked and no
  ///   person may be asked, ``KeychainError/Code/ambiguous`` if several items of other programs
  ///   have the name, ``KeychainError/Code/damaged``, ``KeychainError/Code/noStore`` or
  ///   ``KeychainError/Code/timedOut``.
  public func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    try run { operation throws(KeychainError) in
      let finder = try ItemFinder(operation)
      if let stored = try finder.ownSecretAtOnce(identity) { return stored }
      guard let found = try finder.item(identity) else { return nil }
      guard let secret = try operation.secret(of: found.item) else { return nil }
      return StoredSecret(credential: found.credential, secret: secret)
    }
  }

  /// Returns a credential without its secret; see the protocol.
  ///
  /// - Parameter identity: The identity of the credential.
  /// - Returns: The credential, or `nil` if there is none.
  /// - Throws: As ``secret(for:)``.
  public func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    try run { operation throws(KeychainError) in
      let finder = try ItemFinder(operation)
      if let (found, _) = try finder.ownItemAtOnce(identity) { return found.credential }
      return try finder.item(identity)?.credential
    }
  }
}

extension ItemFinder {
  /// Returns our secret of an identity, if the provider returns it directly.
  fileprivate func ownSecretAtOnce(
    _ identity: CredentialIdentity
  ) throws(KeychainError) -> StoredSecret? {
    let own = try ownItemAtOnce(identity) { path throws(KeychainError) in
      try operation.secretQuestion(path, operation.session())
    }
    guard let (found, answer) = own,
      case .secret(let encrypted)? = try? answer?.get().elements.first,
      let stored = try operation.session().decrypt(encrypted),
      let secret = try StoredText.decode(stored)
    else { return nil }
    return StoredSecret(credential: found.credential, secret: secret)
  }
}

extension ServiceOperation {
  func secretQuestion(_ path: String, _ session: SecretSession) -> BusCall {
    call(
      path, Self.itemInterface, "GetSecret", [.objectPath(session.path)],
      reply: .values("(oayays)"))
  }

  /// Decrypts a secret from the provider, or requests it; returns `nil` if the item is gone.
  func secret(
    of item: ServiceItem, _ known: BusValue? = nil
  ) throws(KeychainError) -> SecretBytes? {
    guard let stored = try storedSecret(of: item, known) else { return nil }
    guard item.ours != nil else { return stored }
    guard let secret = try StoredText.decode(stored) else { throw .damagedItem(item) }
    return secret
  }

  /// Returns the encrypted secrets of items that the provider returns at once.
  func encryptedSecrets(of items: [ServiceItem]) throws(KeychainError) -> [String: BusValue] {
    guard !items.isEmpty else { return [:] }
    let session = try session()
    extendDeadline()
    let call = service(
      "GetSecrets", [.objectPaths(items.map(\.path)), .objectPath(session.path)],
      reply: .values("a{o(oayays)}"))
    let answer = results(of: [call]).first
    if let failure, failure.endsConnection { throw KeychainError(failure) }
    if let error = answer?.error, error == .unexpectedType { throw KeychainError(error) }
    // Missing secrets, such as those of individually locked items, are requested one by one.
    let pairs = (try? answer?.get())?.elements.first?.pairs ?? []
    return Dictionary(pairs.map { ($0.key.text ?? "", $0.value) }) { first, _ in first }
  }

  /// Reads a secret in its stored form; returns `nil` if the item is gone.
  ///
  /// An item may be locked individually: KeePassXC can ask about each one.
  private func storedSecret(
    of item: ServiceItem, _ known: BusValue?
  ) throws(KeychainError) -> SecretBytes? {
    let session = try session()
    if case .secret(let encrypted)? = known, let secret = try session.decrypt(encrypted) {
      return secret
    }
    if item.isLocked { try unlock(item.path) }
    let get = secretQuestion(item.path, session)
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
