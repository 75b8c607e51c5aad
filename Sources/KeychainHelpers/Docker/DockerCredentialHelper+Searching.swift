internal import KeychainCredentials
internal import PrephirencesText

extension DockerCredentialHelper {
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
    logins.sorted { left, right in
      left.isOfOtherProgram == right.isOfOtherProgram
        ? left.modified > right.modified : right.isOfOtherProgram
    }
  }
}

extension Credential {
  /// The registry whose login this is; `nil` if it is none.
  var dockerServer: String? {
    guard case .internetPassword(let password) = identity.kind else { return nil }
    let bare = InternetPassword(server: password.server, account: password.account)
    guard password == bare else { return nil }
    let mark = isOfOtherProgram ? DockerOtherProgram.mark : DockerCredentialHelper.mark
    return attributes[mark.name]?.hasSameBytes(as: mark.value) ?? false ? password.server : nil
  }
}

/// The items that `docker-credential-secretservice` stores in the desktop keyring.
enum DockerOtherProgram {
  /// The attribute that they all have, next to `server`, `username` and `label`.
  static let mark: (name: String, value: String) = ("docker_cli", "1")
}

extension KeychainError {
  static func expiredLogin(_ server: String, _ login: Credential) -> Self {
    Self(
      .expired, "the login of '\(login.identity.account)' for '\(server)' has expired",
      recovery: "log in again with the client")
  }
}
