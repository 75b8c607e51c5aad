public import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

extension DockerCredentialHelper {
  /// Stores a login; another one for the registry is replaced, also that of another user.
  ///
  /// Clients store after each use what they were given. If the same login is stored already,
  /// nothing is written. A new secret clears the expiry of the old one; label, comment and other
  /// attributes stay. If another program stored a different login in the desktop keyring, that one
  /// stays, and the new one takes precedence.
  ///
  /// - Parameter login: The login; its registry is stored exactly as it is named.
  /// - Returns: `false` if the same login was there already.
  /// - Throws: ``/KeychainCredentials/KeychainError``, with
  ///   ``/KeychainCredentials/KeychainError/Code/alreadyExists`` if a password of the same names is
  ///   there that is no login of a registry, ``/KeychainCredentials/KeychainError/Code/locked``, or
  ///   ``/KeychainCredentials/KeychainError/Code/invalidArgument`` for names that are empty or that
  ///   no registry can have.
  @discardableResult
  public func store(_ login: borrowing DockerCredential) throws(KeychainError) -> Bool {
    let identity = try identity(of: login)
    let present = try logins(login.server)
    if try isUnchanged(login, present) { return false }
    try checkUnused(identity)
    // A reader finds the newest, so it never sees none, nor the secret of another user.
    let own = try store.merge(
      CredentialUpdate(
        label: .keep, expires: .clear, attributes: [(Self.mark.name, Self.mark.value)]),
      secret: login.secret, into: identity
    ).credential
    for old in present where old.identity != identity { try removeOwn(old) }
    // Others may have stored meanwhile; the last one of them removes the logins of all others.
    for old in try logins(login.server) where old.identity != identity && own.precedes(old) {
      try removeOwn(old)
    }
    return true
  }

  private func removeOwn(_ old: Credential) throws(KeychainError) {
    guard !old.isOfOtherProgram else { return }
    try removeUnlessChanged(old)
  }

  private func identity(
    of login: borrowing DockerCredential
  ) throws(KeychainError) -> CredentialIdentity {
    guard !login.server.isEmpty else { throw .noDockerServer }
    guard !login.username.isEmpty else { throw .noDockerUsername }
    guard login.username.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw KeychainError(.invalidArgument, "the name of the user has control characters")
    }
    return CredentialIdentity(
      .internetPassword(
        InternetPassword(server: try DockerServer(login.server).name, account: login.username)),
      accessGroup: accessGroup)
  }

  /// Returns whether what clients get now is the same.
  private func isUnchanged(
    _ login: borrowing DockerCredential, _ present: [Credential]
  ) throws(KeychainError) -> Bool {
    guard let current = present.first, !current.isExpired(),
      current.identity.account.hasSameBytes(as: login.username),
      present.count(where: { !$0.isOfOtherProgram }) < 2,
      let stored = try store.secret(for: current.identity)
    else { return false }
    return stored.secret.isEqual(to: login.secret)
  }

  /// Fails if a person or program keeps something else under the names of a login.
  private func checkUnused(_ identity: CredentialIdentity) throws(KeychainError) {
    guard let existing = try store.credential(for: identity), !existing.isOfOtherProgram,
      existing.dockerServer == nil
    else { return }
    throw KeychainError(
      .alreadyExists, "\(identity) exists, and is no login of a registry; nothing was changed",
      recovery: "delete it, or give it the attribute \(Self.mark.name)=\(Self.mark.value)")
  }

  /// Removes a login, unless somebody has changed or removed it since it was found.
  func removeUnlessChanged(_ old: Credential) throws(KeychainError) {
    do throws(KeychainError) {
      try store.remove(
        old.identity, expectedVersion: old.version, includingOtherPrograms: old.isOfOtherProgram)
    } catch {
      guard error.isConflict else { throw error }
    }
  }
}

extension KeychainError {
  static let noDockerServer = KeychainError(.invalidArgument, "the name of the registry is missing")

  static let noDockerUsername = KeychainError(.invalidArgument, "the name of the user is missing")
}
