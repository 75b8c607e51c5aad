public import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

/// Keeps the logins of docker, podman, skopeo and their relatives in a store of credentials.
///
/// ```swift
/// let helper = DockerCredentialHelper(store: store)
/// if let login = try helper.get("registry.example.com") { use(login.username) }
/// ```
///
/// A login is the internet password of the registry's name and the user, without protocol, port and
/// path, that has the attribute `client` with the value `docker`. Passwords without it are never
/// given: a password for a website of the same name is none for its registry. There is one login for
/// a registry. Logins that `docker-credential-secretservice` stored in the desktop keyring are found
/// after these; they are never changed, but erased like these.
public struct DockerCredentialHelper: Sendable {
  /// The attribute that makes an internet password the login of a registry.
  public static let mark: (name: String, value: String) = ("client", "docker")

  let store: any CredentialStore
  let accessGroup: String
  let unlock: @Sendable (CredentialQuery) throws(KeychainError) -> Void

  /// Creates a helper.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - accessGroup: The access group of the logins; empty for the unnamed one.
  ///   - unlock: Called before a search is repeated that found nothing but locked items: unlocks
  ///     what the query concerns, or throws. A search does not unlock by itself.
  public init(
    store: any CredentialStore, accessGroup: String = "",
    unlock: @escaping @Sendable (CredentialQuery) throws(KeychainError) -> Void = { _ in }
  ) {
    self.store = store
    self.accessGroup = accessGroup
    self.unlock = unlock
  }

  /// Returns the login of a registry.
  ///
  /// The registry is looked for as it is named, then without a final slash, then without `https://`,
  /// then without both. Nothing else matches.
  ///
  /// - Parameter server: The registry, as the client names it.
  /// - Returns: The login under the name that was asked for; `nil` if there is none.
  /// - Throws: ``/KeychainCredentials/KeychainError``, with
  ///   ``/KeychainCredentials/KeychainError/Code/expired`` if the login has expired,
  ///   ``/KeychainCredentials/KeychainError/Code/locked`` or
  ///   ``/KeychainCredentials/KeychainError/Code/damaged`` if an item cannot be read that may be the
  ///   one, or ``/KeychainCredentials/KeychainError/Code/invalidArgument`` for a name that no
  ///   registry can have.
  public func get(_ server: String) throws(KeychainError) -> DockerCredential? {
    for spelling in try DockerServer(server).spellings {
      if let login = try login(spelling, server: server) { return login }
    }
    return nil
  }

  /// Returns all logins that have not expired, ordered by the names of their registries.
  ///
  /// - Returns: For each registry, its name and its user.
  /// - Throws: ``/KeychainCredentials/KeychainError``, also if only some items could be read.
  public func list() throws(KeychainError) -> [(server: String, username: String)] {
    var listed: [(server: String, username: String)] = []
    for mark in [Self.mark, DockerOtherProgram.mark] {
      let query = CredentialQuery(
        accessGroup: accessGroup,
        attributes: CredentialAttributes(dictionaryLiteral: (mark.name, mark.value)))
      for login in Self.ordered(try everything(query)) where !login.isExpired() {
        guard let server = login.dockerServer,
          !listed.contains(where: { $0.server.hasSameBytes(as: server) })
        else { continue }
        listed.append((server, login.identity.account))
      }
    }
    return listed.sorted { $0.server.hasLesserBytes(than: $1.server) }
  }

  /// Removes the login of a registry, under each name under which ``get(_:)`` finds it.
  ///
  /// A login that is stored at the same time stays.
  ///
  /// - Parameter server: The registry, as the client names it.
  /// - Throws: ``/KeychainCredentials/KeychainError``; that there is no login is not an error.
  public func erase(_ server: String) throws(KeychainError) {
    for spelling in try DockerServer(server).spellings {
      for login in try logins(spelling) { try removeUnlessChanged(login) }
    }
  }
}
