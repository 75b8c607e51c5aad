public import KeychainCredentials
public import KeychainSecrets

/// A credential helper of git: answers its requests from a store.
///
/// ```swift
/// let lines = try SecretBytes(copying: "protocol=https\nhost=example.com\n")
/// let helper = GitCredentialHelper(store: AutomaticStore())
/// let answer = try helper.answer(.get, to: GitCredentialRequest(parsing: lines))
/// try answer.write(toFileDescriptor: 1)
/// ```
///
/// Credentials are internet passwords. Protocol, host and port must be equal (hosts without regard to
/// the case of ASCII letters); a path and a user may be left out by the credential or by the request.
/// Nothing else is matched: no domain above, no similar name. Among several, one with the path and the
/// user of the request is preferred; if that leaves several accounts, none is given.
///
/// An expired password is never given. A rejected one is erased only from a credential that has
/// everything that git says: one that is for every user or path stays. Credentials that other
/// programs stored are read, and never changed. Those of git's own helper for libsecret are erased
/// like ours, others only if that is asked for.
///
/// git's exit code is not looked at, and silence makes git ask the person. So write
/// ``reply(to:of:)`` to standard output if a call throws: git then stops where a typed password
/// could not be kept.
public struct GitCredentialHelper: Sendable {
  let store: any CredentialStore
  let accessGroup: String
  let erasesOthers: Bool
  let report: @Sendable (KeychainError) -> Void

  /// Creates a helper.
  ///
  /// - Parameters:
  ///   - store: Where the credentials are.
  ///   - accessGroup: The access group of the credentials; empty for the unnamed one.
  ///   - erasesOthers: Whether credentials that any other program stored may be erased, and not
  ///     only those of git's own helper for libsecret.
  ///   - report: Called with what a person should know although the call goes on: that the password
  ///     has expired (``/KeychainCredentials/KeychainError/Code/expired``), or that a rejected one is
  ///     not erased (``/KeychainCredentials/KeychainError/Code/refused``).
  public init(
    store: any CredentialStore, accessGroup: String = "", erasesOthers: Bool = false,
    report: @escaping @Sendable (KeychainError) -> Void = { _ in }
  ) {
    self.store = store
    self.accessGroup = accessGroup
    self.erasesOthers = erasesOthers
    self.report = report
  }

  /// Answers a request.
  ///
  /// - Parameters:
  ///   - operation: What git asks for.
  ///   - request: What git sent; ``GitCredentialOperation/capability`` needs none.
  /// - Returns: The lines for standard output; none if there is no credential, and for operations
  ///   without an answer.
  /// - Throws: ``/KeychainCredentials/KeychainError`` of the store, with
  ///   ``/KeychainCredentials/KeychainError/Code/ambiguous`` if credentials of several accounts or
  ///   paths fit equally well, ``/KeychainCredentials/KeychainError/Code/undecodable`` if a secret has
  ///   a line break or a NUL, ``/KeychainCredentials/KeychainError/Code/invalidArgument`` for a port
  ///   that is none or, to erase, without a server, or
  ///   ``/KeychainCredentials/KeychainError/Code/timedOut`` if others keep changing the credential.
  public func answer(
    _ operation: GitCredentialOperation, to request: GitCredentialRequest = GitCredentialRequest()
  ) throws(KeychainError) -> SecretBytes {
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
  }

  /// Returns what standard output must say if a call failed.
  ///
  /// - Parameters:
  ///   - failure: Why the call failed.
  ///   - operation: What git asked for.
  /// - Returns: A line that stops git, so that it does not ask for a password; empty if it may ask,
  ///   since the request is ambiguous, or if it reads no answer.
  public static func reply(
    to failure: KeychainError, of operation: GitCredentialOperation
  ) -> String {
    operation == .get && failure.code != .ambiguous ? stopsGit : ""
  }

  /// The line that stops git.
  package static let stopsGit = "quit=1\n"
}

extension GitCredentialHelper {
  /// Returns the credentials that a request may mean.
  ///
  /// - Throws: ``KeychainError``, also if nothing was found but something could not be read.
  func matches(
    _ request: GitCredentialRequest, on server: GitServer
  ) throws(KeychainError) -> [GitCredentialMatch] {
    let searcher = CredentialSearcher(
      store: store,
      unlock: { query throws(KeychainError) in try store.makeReadable(query) },
      unlocking: { _ in .unlock })
    var matches: [GitCredentialMatch] = []
    for host in server.searchedHosts {
      let query = CredentialQuery(accessGroup: accessGroup, server: host)
      let found = try searcher.credentials(matching: query) {
        GitCredentialMatch($0, request, server) != nil
      }
      matches += found.compactMap { GitCredentialMatch($0, request, server) }
    }
    return matches
  }
}
