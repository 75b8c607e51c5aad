internal import FoundationEssentials
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVault
internal import PrephirencesSystem

/// A credential helper of git: answers its requests from a store.
///
/// ```swift
/// let lines = try SecretBytes(copying: "protocol=https\nhost=example.com\n")
/// let helper = GitCredentialHelper(store: AutomaticStore())
/// let answer = try helper.answer(.get, to: GitCredentialRequest(parsing: lines))
/// try answer.write(toFileDescriptor: 1)
/// ```
///
/// Credentials are internet passwords. Protocol, host and port must be equal (hosts without regard
/// to the case of ASCII letters); a path and a user may be left out by the credential or by the
/// request. Nothing else is matched: no parent domain, no similar name. Among several, one with the
/// path and the user of the request is preferred; if several accounts remain, none is returned.
///
/// An expired password is never returned. A rejected one is erased only if its credential has every
/// name in git's request: a credential for every user or path stays. Credentials of other programs
/// are read but never changed. Those of git's own helper for libsecret are erased like ours, others
/// only on request.
///
/// git ignores the exit code of a helper, and asks the person if there is no answer. So write
/// ``reply(to:of:)`` to standard output if a call throws: git then stops if a typed password could
/// not be kept.
public struct GitCredentialHelper: Sendable {
  let store: any CredentialStore
  let accessGroup: String
  let erasesOthers: Bool
  let report: @Sendable (KeychainError) -> Void

  /// Creates a helper.
  ///
  /// - Parameters:
  ///   - store: The store of the credentials.
  ///   - accessGroup: The access group of the credentials; empty for the unnamed one.
  ///   - erasesOthers: Whether credentials of any other program may be erased, not only those of
  ///     git's own helper for libsecret.
  ///   - report: Called with what a person should know although the call continues: that the
  ///     password has expired (``/KeychainSecrets/KeychainError/Code/expired``), or that a
  ///     rejected one is not erased (``/KeychainSecrets/KeychainError/Code/refused``).
  public init(
    store: any CredentialStore, accessGroup: String = "", erasesOthers: Bool = false,
    report: @escaping @Sendable (KeychainError) -> Void = { _ in }
  ) {
    self.store = store
    self.accessGroup = accessGroup
    self.erasesOthers = erasesOthers
    self.report = report
  }

  /// Answers a request with the lines for standard output.
  ///
  /// There are none if there is no credential, and for operations without an answer.
  /// ``GitCredentialOperation/capability`` needs no request.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError`` of the store, with
  ///   ``/KeychainSecrets/KeychainError/Code/ambiguous`` if credentials of several accounts or
  ///   paths match equally well, ``/KeychainSecrets/KeychainError/Code/undecodable`` if a
  ///   secret has a line break or a NUL,
  ///   ``/KeychainSecrets/KeychainError/Code/invalidArgument`` for an invalid port, or if an
  ///   erase names no server, or ``/KeychainSecrets/KeychainError/Code/timedOut`` if others
  ///   keep changing the credential.
  public func answer(
    _ operation: GitCredentialOperation, to request: GitCredentialRequest = GitCredentialRequest()
  ) throws(KeychainError) -> SecretBytes {
    do {
      var answer = try GitCredentialAnswer()
      switch operation {
      case .get: try get(request, &answer)
      case .store: try store(request)
      case .erase: try erase(request)
      case .capability:
        try answer.append(line: "version 0")
        try answer.append(line: "capability authtype")
      }
      return try answer.finish()
    } catch {
      throw error as? KeychainError
        ?? KeychainError(.internalFailure, "git cannot be answered: \(type(of: error))")
    }
  }

  /// Returns the text for standard output after a failed call.
  ///
  /// It is a line that stops git, so that it does not ask for a password. It is empty if git may
  /// ask because the request is ambiguous, or if git reads no answer.
  public static func reply(
    to failure: KeychainError, of operation: GitCredentialOperation
  ) -> String { operation == .get && failure.code != .ambiguous ? stopsGit : "" }

  /// The line that stops git.
  package static let stopsGit = "quit=1\n"

  /// Returns the credentials that match a request.
  func matches(
    _ request: GitCredentialRequest, on server: GitServer
  ) throws -> [GitCredentialMatch] {
    let searcher = CredentialSearcher(
      store: store,
      unlock: { query throws(KeychainError) in try store.makeReadable(query) },
      unlocking: { _ in .unlock })
    return try server.searchedHosts.flatMap { host throws(KeychainError) in
      try searcher.matches(of: CredentialQuery(accessGroup: accessGroup, server: host)) {
        GitCredentialMatch($0, in: $1, request, server)
      }
    }
  }
}

/// An operation of a credential helper: the word after the helper's name.
@nonexhaustive public enum GitCredentialOperation: String, CaseIterable, Hashable, Sendable {
  /// Give a credential, if there is one.
  case get

  /// Store a credential that was used successfully.
  case store

  /// Remove a credential that was rejected.
  case erase

  /// Say which parts of the protocol the helper knows.
  case capability
}

extension GitCredentialHelper {
  /// Appends the credential that matches a request, if there is one.
  func get(_ request: GitCredentialRequest, _ answer: inout GitCredentialAnswer) throws {
    guard let server = try GitServer(request),
      let match = try matches(request, on: server).best(for: request, on: server),
      let stored = try match.found.secret(match.credential)
    else { return }
    let secret = try GitSecret(stored)
    guard match.scheme?.utf8.allSatisfy({ $0 > 32 && $0 != 127 }) ?? true else {
      throw KeychainError.schemeNotForGit(match.identity)
    }
    // With a refresh token, the next helper of the chain can renew it.
    if secret.isExpired, secret.refreshToken == nil { report(.expiredForGit(match.identity)) }
    if request.understandsAuthenticationTypes { try answer.append("capability[]", "authtype") }
    if let username = try Self.username(of: match, secret, for: request) {
      try answer.append("username", username)
    }
    if !secret.isExpired {
      if let scheme = match.scheme {
        try answer.append("authtype", scheme)
        try answer.append("credential", secret.password)
      } else {
        try answer.append("password", secret.password)
      }
      if let expires = secret.expires {
        try answer.append(GitSecret.expiryKey, String(GitExpiry.seconds(expires)))
      }
    }
    // With it, another helper of the chain can renew an expired password.
    if let token = secret.refreshToken { try answer.append(GitSecret.refreshTokenKey, token) }
  }

  private static func username(
    of match: GitCredentialMatch, _ secret: GitSecret, for request: GitCredentialRequest
  ) throws -> String? {
    if let username = request.username { return username }
    let account = match.password.account
    let isOneLine = account.utf8.allSatisfy { ![0, 10, 13].contains($0) }
    guard isOneLine else { throw KeychainError.nameNotForGit(match.identity) }
    // git stores an empty name with an empty password for servers that use Kerberos.
    return account.isEmpty && secret.password.bytes.count > 0 ? nil : account
  }

  /// How long to retry while others change a credential.
  static var retryTime: Duration { .seconds(10) }

  /// Stores the credential of a request, unless the request would be answered with the same.
  ///
  /// git stores after every use, and older versions leave out the expiry and the refresh token.
  func store(_ request: GitCredentialRequest) throws {
    guard !request.isEphemeral, let server = try GitServer(request),
      let given = GitGivenSecret(request), given.scheme != nil || request.username != nil
    else { return }
    let deadline = Deadline(after: Self.retryTime)
    while true {
      do {
        return try store(given, request, on: server)
      } catch let error as KeychainError where error.isConflict && !deadline.hasPassed {
        // Another program stored at the same time, possibly the same.
      }
      Deadline.pause()
    }
  }

  private func store(
    _ given: GitGivenSecret, _ request: GitCredentialRequest, on server: GitServer
  ) throws {
    let matches = try matches(request, on: server).filter { given.isOfScheme(of: $0) }
    if let match = Self.meant(matches, request, server),
      let stored = try secret(of: match), stored.hasAll(of: request, given),
      try isGivenAgain(match, given, request, server)
    {
      return
    }
    let named = matches.filter { $0.hasAllNames(of: request) }
    let replaced = Self.meant(named, request, server)
    try write(
      given, request, into: replaced?.identity ?? newIdentity(given, request, server),
      replacing: replaced)
  }

  /// Returns whether git gets a credential before a person names the user.
  ///
  /// If there are several accounts, only a credential with the path of the request answers the next
  /// question.
  private func isGivenAgain(
    _ match: GitCredentialMatch, _ given: GitGivenSecret, _ request: GitCredentialRequest,
    _ server: GitServer
  ) throws -> Bool {
    guard !match.hasAllNames(of: request) else { return true }
    var request = request
    request.username = nil
    let matches = try matches(request, on: server).filter { given.isOfScheme(of: $0) }
    return Self.meant(matches, request, server)?.identity == match.identity
  }

  private static func meant(
    _ matches: [GitCredentialMatch], _ request: GitCredentialRequest, _ server: GitServer
  ) -> GitCredentialMatch? {
    var request = request
    request.understandsAuthenticationTypes = true
    // If several match equally well, none is returned.
    return (try? matches.best(for: request, on: server)) ?? nil
  }

  /// Returns the secret of a credential; `nil` if git cannot use it.
  private func secret(of match: GitCredentialMatch) throws -> GitSecret? {
    do {
      guard let stored = try match.found.secret(match.credential) else { return nil }
      return try GitSecret(stored)
    } catch let error as KeychainError where error.code == .undecodable {
      return nil
    }
  }

  private func write(
    _ given: GitGivenSecret, _ request: GitCredentialRequest, into identity: CredentialIdentity,
    replacing match: GitCredentialMatch?
  ) throws {
    let old = try match.flatMap(secret(of:))
    // A refresh token belongs to the account, and stays until another one is sent. An expiry
    // belongs to the password.
    let token = request.refreshToken ?? old?.refreshToken
    let kept = old.flatMap { given.isEqual(to: $0) && !$0.isExpired ? $0.expires : nil }
    let update = CredentialUpdate(
      contentType: token == nil ? .clear : .set(GitSecret.contentType),
      expires: (request.expires ?? kept).map { .set($0) } ?? .clear)
    try store.merge(
      update, secret: Self.layout(given.bytes, token), into: identity,
      mode: match.map { .replace(version: $0.credential.version) } ?? .addOnly)
  }

  private static func layout(_ secret: SharedSecret, _ token: SharedSecret?) throws -> SecretBytes {
    guard let token else { return try secret.copy() }
    var lines = try GitCredentialAnswer()
    try lines.append(secret)
    try lines.append(line: "")
    try lines.append(GitSecret.refreshTokenKey, token)
    return try lines.finish(droppingLast: 1)
  }

  private func newIdentity(
    _ given: GitGivenSecret, _ request: GitCredentialRequest, _ server: GitServer
  ) -> CredentialIdentity {
    let password = InternetPassword(
      server: server.host, protocol: server.origin.protocol, port: server.port,
      path: request.path ?? "", account: request.username ?? "",
      authenticationType: given.scheme ?? "")
    return CredentialIdentity(.internetPassword(password), accessGroup: accessGroup)
  }

  /// Removes the credentials that have every name in a request.
  ///
  /// A password that was renewed after the rejected one was returned is another password, and
  /// stays. So does one that another program stored, unless it is git's own helper for libsecret.
  func erase(_ request: GitCredentialRequest) throws {
    guard let server = try GitServer(request) else {
      // The passphrase of a certificate has no host.
      guard request.protocol == "cert" else { throw KeychainError.gitServerMissing }
      return
    }
    var failure: (any Error)?
    for match in try matches(request, on: server) {
      do {
        try erase(match, request)
      } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  private func erase(_ match: GitCredentialMatch, _ request: GitCredentialRequest) throws {
    let scope = TransactionScope(
      serviceOf: match.identity, unlocking: match.credential.accessibility.unlockRequirement)
    let isDone: Void? = try store.inOneStep(scope) { transaction in
      guard let stored = try transaction.secret(for: match.identity),
        try rejects(request, match, stored), mayErase(stored.credential, match, request)
      else { return }
      try transaction.remove(match.identity)
    }
    if isDone == nil { try eraseInSteps(match, request) }
  }

  /// Erases from a store without transactions.
  private func eraseInSteps(_ match: GitCredentialMatch, _ request: GitCredentialRequest) throws {
    let deadline = Deadline(after: Self.retryTime)
    // A store may have a credential of ours and one of another program under the same name.
    while let stored = try store.secret(for: match.identity),
      try rejects(request, match, stored), mayErase(stored.credential, match, request)
    {
      do throws(KeychainError) {
        try store.remove(
          match.identity, expectedVersion: stored.credential.version,
          includingOtherPrograms: stored.credential.isOfOtherProgram)
        return
      } catch {
        // It was changed after the comparison, so it may be another credential.
        guard error.code == .versionConflict, !deadline.hasPassed else { throw error }
      }
      Deadline.pause()
    }
  }

  /// Returns whether a rejected credential belongs to git alone, as ours or its own helper's;
  /// reports it otherwise.
  private func mayErase(
    _ credential: Credential, _ match: GitCredentialMatch, _ request: GitCredentialRequest
  ) -> Bool {
    // It may be right for others: the user was mistyped, or may not see this path.
    guard Self.isNamed(match, by: request) else {
      report(.forOthersToo(credential))
      return false
    }
    let isOurs =
      erasesOthers || !credential.isOfOtherProgram
      || credential.isOfGitLibsecret && GitGivenSecret(request) != nil
    if !isOurs { report(.ofOtherProgram(credential)) }
    return isOurs
  }

  /// Returns whether a request rejects a credential.
  private func rejects(
    _ request: GitCredentialRequest, _ match: GitCredentialMatch, _ stored: borrowing StoredSecret
  ) throws -> Bool {
    guard let given = GitGivenSecret(request) else { return Self.isNamed(match, by: request) }
    do {
      return try given.isOfScheme(of: match) && given.isEqual(to: GitSecret(stored))
    } catch let error as KeychainError where error.code == .undecodable {
      // git cannot have used it.
      return false
    }
  }

  /// Returns whether a credential has the path and the user that a request sends.
  private static func isNamed(
    _ match: GitCredentialMatch, by request: GitCredentialRequest
  ) -> Bool {
    (request.path == nil || match.hasPath(of: request))
      && request.username.map { $0.hasSameBytes(as: match.password.account) } ?? true
  }
}
