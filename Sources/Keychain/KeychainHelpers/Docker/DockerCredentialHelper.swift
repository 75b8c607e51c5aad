public import KeychainCredentials
public import KeychainSecrets
internal import PrephirencesSystem

/// Keeps the logins of docker, podman, skopeo and similar programs in a store of credentials.
///
/// ```swift
/// let helper = DockerCredentialHelper(store: store)
/// if let login = try helper.get("registry.example.com") { use(login.username) }
/// ```
///
/// A login is an internet password with the registry's name and the user, without protocol, port
/// and path, and with the attribute `client` of value `docker`. Passwords without it are never
/// returned, because they belong to a website of the same name. A registry has one login. Logins
/// that `docker-credential-secretservice` stored in the desktop keyring are found after these; they
/// are never changed, but erased like these.
public struct DockerCredentialHelper: Sendable {
  /// The attribute that makes an internet password the login of a registry.
  public static let mark: (name: String, value: String) = ("client", "docker")

  let store: any CredentialStore
  let accessGroup: String
  let unlock: @Sendable (CredentialQuery) throws(KeychainError) -> Void

  /// Creates a helper.
  ///
  /// - Parameters:
  ///   - accessGroup: The access group of the logins; empty for the unnamed one.
  ///   - unlock: Called if a search has found only locked items, before it is repeated: unlocks the
  ///     stores of the query, or throws. A search does not unlock by itself.
  public init(
    store: any CredentialStore, accessGroup: String = "",
    unlock: @escaping @Sendable (CredentialQuery) throws(KeychainError) -> Void = { _ in }
  ) {
    self.store = store
    self.accessGroup = accessGroup
    self.unlock = unlock
  }

  /// Returns the login of a registry under the given name; `nil` if there is none.
  ///
  /// The name is looked for as it is, then without a final slash, then without `https://`, then
  /// without both. Nothing else matches.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError``, with
  ///   ``/KeychainSecrets/KeychainError/Code/expired`` if the login has expired,
  ///   ``/KeychainSecrets/KeychainError/Code/locked`` or
  ///   ``/KeychainSecrets/KeychainError/Code/damaged`` if a possible login cannot be read, or
  ///   ``/KeychainSecrets/KeychainError/Code/invalidArgument`` if no registry can have the
  ///   name.
  public func get(_ server: String) throws(KeychainError) -> DockerCredential? {
    for spelling in try DockerServer(server).spellings {
      if let login = try login(spelling, server: server) { return login }
    }
    return nil
  }

  /// Returns the registry and the user of all logins that have not expired, ordered by registry.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError``, also if only some items could be read.
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
  /// A login that is stored at the same time stays. A missing login is not an error.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError``.
  public func erase(_ server: String) throws(KeychainError) {
    for spelling in try DockerServer(server).spellings {
      for login in try logins(spelling) { try removeUnlessChanged(login) }
    }
  }

  /// Each failed attempt means that another process stored or removed a login in a few
  /// milliseconds.
  private static let attempts = 100

  /// Returns the login under one name, for a client that asks with another spelling of it.
  ///
  /// If a login is missing when its secret is read, it was removed or replaced. A new login is
  /// stored before the old one is removed, so another search finds it.
  func login(_ spelling: String, server: String) throws(KeychainError) -> DockerCredential? {
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

  static func ordered(_ logins: [Credential]) -> [Credential] { logins.sorted { $0.precedes($1) } }
}

extension Credential {
  /// Whether clients get this login, and not another one of the registry.
  ///
  /// All processes find the same order: those that store at the same time must not remove each
  /// other's login.
  func precedes(_ other: Credential) -> Bool {
    if isOfOtherProgram != other.isOfOtherProgram { return other.isOfOtherProgram }
    if modified != other.modified { return modified > other.modified }
    return identity.account.hasLesserBytes(than: other.identity.account)
  }

  /// The registry of this login; `nil` if it is not a login.
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

/// The items of `docker-credential-secretservice` in the desktop keyring.
enum DockerOtherProgram {
  /// The attribute that they all have, next to `server`, `username` and `label`.
  static let mark: (name: String, value: String) = ("docker_cli", "1")

  /// Returns whether that program stored a credential, so that its fields are known.
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

extension DockerCredentialHelper {
  /// Stores a login, which replaces another one for the registry, also that of another user;
  /// `false` if the same login was stored already.
  ///
  /// Clients store after each use, so nothing is written for the same login. A new secret clears
  /// the expiry of the old one; label, comment and other attributes stay. A different login that
  /// another program stored in the desktop keyring stays, and the new one takes precedence. The
  /// registry is stored exactly as the login names it.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError``, with
  ///   ``/KeychainSecrets/KeychainError/Code/alreadyExists`` if a password of the same names is
  ///   not the login of a registry, ``/KeychainSecrets/KeychainError/Code/locked``, or
  ///   ``/KeychainSecrets/KeychainError/Code/invalidArgument`` for names that are empty or that
  ///   no registry can have.
  @discardableResult
  public func store(_ login: borrowing DockerCredential) throws(KeychainError) -> Bool {
    let identity = try identity(of: login)
    let present = try logins(login.server)
    if try isUnchanged(login, present) { return false }
    try checkUnused(identity)
    // Readers take the newest, so they always find one, and never the secret of another user.
    let own = try store.merge(
      CredentialUpdate(
        label: .keep, expires: .clear, attributes: [(Self.mark.name, Self.mark.value)]),
      secret: login.secret, into: identity
    ).credential
    for old in present where old.identity != identity { try removeOwn(old) }
    // Others may have stored in the meantime. The last of them removes the logins of all others.
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

  /// Returns whether clients get the same login already.
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

  /// Fails if something else is stored under the names of a login.
  private func checkUnused(_ identity: CredentialIdentity) throws(KeychainError) {
    guard let existing = try store.credential(for: identity), !existing.isOfOtherProgram,
      existing.dockerServer == nil
    else { return }
    throw KeychainError(
      .alreadyExists, "\(identity) exists, but is not the login of a registry; nothing was changed",
      recovery: "delete it, or give it the attribute \(Self.mark.name)=\(Self.mark.value)")
  }

  /// Removes a login, unless somebody has changed or removed it since it was found.
  func removeUnlessChanged(_ old: Credential) throws(KeychainError) {
    do throws(KeychainError) {
      try store.remove(
        old.identity, expectedVersion: old.version, includingOtherPrograms: old.isOfOtherProgram)
    } catch { guard error.isConflict else { throw error } }
  }
}

extension KeychainError {
  static let noDockerServer = KeychainError(.invalidArgument, "the name of the registry is missing")

  static let noDockerUsername = KeychainError(.invalidArgument, "the name of the user is missing")
}

// The texts that a helper reads from standard input and writes to standard output. Clients compare
// some of them; those are written with exit code 1.
extension DockerCredentialHelper {
  /// The answer if there is no login; the client then asks the person.
  public static let absent = "credentials not found in native keychain"

  /// The answer to a client that names no registry.
  public static let serverMissing = "no credentials server URL"

  /// The answer to a client that names no user.
  public static let usernameMissing = "no credentials username"

  /// Returns the answer if an operation fails: one line without a secret, which clients show in
  /// backquotes.
  ///
  /// An expired login counts as missing: the person must log in again, and it must not disturb a
  /// client that reads all logins.
  public static func text(for failure: KeychainError) -> String {
    switch failure {
    case .noDockerServer: serverMissing
    case .noDockerUsername: usernameMissing
    case _ where failure.code == .expired: absent
    default: failure.message.visible
    }
  }

  /// Returns the registry that a client sends with `get` or `erase`, without white space around it.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError`` with
  ///   ``/KeychainSecrets/KeychainError/Code/invalidArgument`` if it is empty or not UTF-8.
  public static func server(in request: borrowing SecretBytes) throws(KeychainError) -> String {
    let text = request.withBytes { bytes in
      let space: [UInt8] = [0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D]
      var range = 0..<bytes.byteCount
      while let first = range.first, space.contains(bytes.byte(at: first)) {
        range = range.dropFirst()
      }
      while let last = range.last, space.contains(bytes.byte(at: last)) { range = range.dropLast() }
      return bytes.extracting(range).text
    }
    guard let text else {
      throw KeychainError(.invalidArgument, "the name of the registry is not text in UTF-8")
    }
    guard !text.isEmpty else { throw .noDockerServer }
    return text
  }

  /// Returns the JSON object that answers `list`, with a member for each registry and a newline.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError`` with
  ///   ``/KeychainSecrets/KeychainError/Code/insufficientMemory``.
  public static func json(
    _ logins: [(server: String, username: String)]
  ) throws(KeychainError) -> SecretBytes {
    var text = try SecretBuffer()
    try text.append("{")
    for (index, login) in logins.enumerated() {
      if index > 0 { try text.append(",") }
      try text.appendJSON(login.server)
      try text.append(":")
      try text.appendJSON(login.username)
    }
    try text.append("}\n")
    return try text.finish()
  }
}
