internal import KeychainCredentials
internal import PrephirencesSystem

extension DockerCredentialHelper {
  /// Each failed attempt means that somebody stored or removed a login in a few milliseconds.
  private static let attempts = 100

  /// Returns the login under one name, for a client that asks with another spelling of it.
  ///
  /// A login that is gone when its secret is read was removed or replaced. Storing writes the new
  /// login before it removes the old one, so another search finds that.
  func login(
    _ spelling: String, server: String
  ) throws(KeychainError) -> DockerCredential? {
    for _ in 0..<Self.attempts {
      guard let login = try logins(spelling).first else { return nil }
      guard !login.isExpired() else { throw .expiredLogin(server, login) }
      guard let stored = try store.secret(for: login.identity) else { continue }
      return DockerCredential(
        server: server, username: login.identity.account, secret: stored.takeSecret())
    }
    throw .restlessLogin(server)
  }

  /// Returns the logins of a registry, ours first, and the newest first among them.
  ///
  /// There are several if another program has one, too, or if storing was interrupted.
  func logins(_ server: String) throws(KeychainError) -> [Credential] {
    let query = CredentialQuery(accessGroup: accessGroup, server: server)
    let found = try CredentialSearcher(
      store: store, unlock: unlock, unlocking: { _ in .unlock }
    ).credentials(matching: query) { $0.dockerServer?.hasSameBytes(as: server) ?? false }
    return Self.ordered(found)
  }

  /// Returns all logins that match a query; fails if some items could not be read.
  func everything(_ query: CredentialQuery) throws(KeychainError) -> [Credential] {
    var result = try store.search(query)
    if result.lockedCount > 0 {
      try unlock(query)
      result = try store.search(query)
    }
    if let failure = KeychainError(incomplete: result, unlocking: .unlock) { throw failure }
    return result.credentials.filter { $0.dockerServer != nil }
  }

  static func ordered(_ logins: [Credential]) -> [Credential] {
    logins.sorted { $0.precedes($1) }
  }
}

extension Credential {
  /// Whether clients get this login, and not another one of the registry.
  ///
  /// Everybody finds the same order: those who store at the same time must not remove each other's
  /// login.
  func precedes(_ other: Credential) -> Bool {
    if isOfOtherProgram != other.isOfOtherProgram { return other.isOfOtherProgram }
    if modified != other.modified { return modified > other.modified }
    return identity.account.hasLesserBytes(than: other.identity.account)
  }

  /// The registry whose login this is; `nil` if it is none.
  var dockerServer: String? {
    guard case .internetPassword(let password) = identity.kind else { return nil }
    let bare = InternetPassword(server: password.server, account: password.account)
    guard password == bare else { return nil }
    let mark = DockerCredentialHelper.mark
    let isLogin =
      isOfOtherProgram
      ? DockerOtherProgram.stored(self)
      : attributes[mark.name]?.hasSameBytes(as: mark.value) ?? false
    return isLogin ? password.server : nil
  }
}

/// The items that `docker-credential-secretservice` stores in the desktop keyring.
enum DockerOtherProgram {
  /// The attribute that they all have, next to `server`, `username` and `label`.
  static let mark: (name: String, value: String) = ("docker_cli", "1")

  /// Returns whether that program stored a credential, of which everything is known then.
  static func stored(_ credential: Credential) -> Bool {
    let names = ["xdg:schema", mark.name, "server", "username", "label"]
    let attributes = credential.itemAttributes
    return credential.isOfOtherProgram && attributes.allSatisfy { names.contains($0.name) }
      && attributes[mark.name]?.hasSameBytes(as: mark.value) ?? false
  }
}

extension KeychainError {
  fileprivate static func restlessLogin(_ server: String) -> Self {
    Self(
      .busy, "the login for '\(server)' is stored and removed again and again",
      recovery: "try again, or stop what does that")
  }

  static func expiredLogin(_ server: String, _ login: Credential) -> Self {
    Self(
      .expired, "the login of '\(login.identity.account)' for '\(server)' has expired",
      recovery: "log in again with the client")
  }
}
