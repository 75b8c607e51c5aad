internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

/// A credential that matches a request.
struct GitCredentialMatch {
  let credential: Credential
  let password: InternetPassword

  /// The search that found it.
  let found: FoundCredentials

  /// Matches a credential with a request; `nil` if it is for something else.
  ///
  /// The server must be equal. A path and a user must be equal unless one side leaves them out. A
  /// credential that is not a password matches only its own user: git sends it without a name, so
  /// the server would not notice another user.
  init?(
    _ credential: Credential, in found: FoundCredentials, _ request: GitCredentialRequest,
    _ server: GitServer
  ) {
    guard case .internetPassword(let password) = credential.identity.kind,
      server.isServer(of: password),
      Self.agrees(password.path.relativePath, request.path?.relativePath),
      Self.agrees(password.account, request.username),
      !password.account.isEmpty || (request.username ?? "").isEmpty
        || GitAuthentication.scheme(of: password) == nil
    else { return nil }
    (self.credential, self.found) = (credential, found)
    self.password = password
  }

  private static func agrees(_ stored: String, _ sent: String?) -> Bool {
    guard let sent, !stored.isEmpty else { return true }
    return stored.hasSameBytes(as: sent)
  }

  var identity: CredentialIdentity { credential.identity }

  /// The scheme of the header `Authorization`; `nil` for a password.
  var scheme: String? { GitAuthentication.scheme(of: password) }

  /// Whether the credential has the path and the user that the request has.
  func hasAllNames(of request: GitCredentialRequest) -> Bool {
    hasPath(of: request) && (request.username ?? "").hasSameBytes(as: password.account)
  }

  /// Whether the path is that of a request, or both have none.
  func hasPath(of request: GitCredentialRequest) -> Bool {
    (request.path ?? "").relativePath.hasSameBytes(as: password.path.relativePath)
  }

  /// The rank of the match, by the parts of the request in order; lower is better.
  func fit(_ request: GitCredentialRequest) -> [Int] {
    // Without a user in the request, an answer with a user is complete.
    let user =
      request.username.map { $0.hasSameBytes(as: password.account) } ?? !password.account.isEmpty
    return [hasPath(of: request) ? 0 : 1, user ? 0 : 1, scheme == nil ? 0 : 1]
  }

  /// The rank among several credentials of one account; lower is better.
  func preference(_ server: GitServer) -> [Int] {
    [
      credential.isExpired() ? 1 : 0, credential.isOfOtherProgram ? 1 : 0,
      password.port == server.port ? 0 : 1, password.securityDomain.isEmpty ? 0 : 1,
      password.authenticationType.isEmpty ? 0 : 1,
    ]
  }
}

extension String {
  /// A path without its first slash, which git does not send.
  var relativePath: String { hasPrefix("/") ? String(dropFirst()) : self }
}

/// The authentication types of internet passwords as git sees them.
enum GitAuthentication {
  /// Returns the scheme of a credential for the header `Authorization`; `nil` for a password.
  ///
  /// Types that other programs write, such as `httpBasic` and `htmlForm`, are those of passwords.
  static func scheme(of password: InternetPassword) -> String? {
    let type = password.authenticationType
    let known = type.foldingASCIICase
    let isPassword = ["http", "html", "default"].contains { known.hasPrefix($0) }
    return type.isEmpty || isPassword ? nil : type
  }
}

extension [GitCredentialMatch] {
  /// Returns the credential for a request; `nil` if there is none.
  func best(for request: GitCredentialRequest, on server: GitServer) throws -> GitCredentialMatch? {
    let known = filter { $0.scheme == nil || request.understandsAuthenticationTypes }
    guard let fit = known.map({ $0.fit(request) }).min(by: { $0.lexicographicallyPrecedes($1) })
    else { return nil }
    let fitting = known.filter { $0.fit(request) == fit }
    let first = fitting[0].password
    let areAlike = fitting.allSatisfy {
      $0.password.account.hasSameBytes(as: first.account)
        && $0.password.path.relativePath.hasSameBytes(as: first.path.relativePath)
    }
    guard areAlike else { throw KeychainError.ambiguousForGit(fitting.map(\.identity)) }
    return fitting.min { left, right in
      let (mine, other) = (left.preference(server), right.preference(server))
      if mine != other { return mine.lexicographicallyPrecedes(other) }
      return left.credential.modified > right.credential.modified
    }
  }
}

extension Credential {
  /// Whether git's own helper for libsecret stored it, so that its fields are known.
  var isOfGitLibsecret: Bool {
    let names = ["xdg:schema", "user", "protocol", "server", "port", "object"]
    let attributes = itemAttributes
    guard isOfOtherProgram, attributes.allSatisfy({ names.contains($0.name) }),
      let schema = attributes["xdg:schema"]
    else { return false }
    if schema.hasSameBytes(as: "org.git.Password") { return true }
    // Before git 2.42, the helper used a schema that others use, too, but only it writes this
    // label.
    guard let name = attributes["protocol"], let server = attributes["server"] else { return false }
    let port = attributes["port"].map { ":\($0)" } ?? ""
    return schema.hasSameBytes(as: "org.gnome.keyring.NetworkPassword")
      && label?.hasSameBytes(as: "Git: \(name)://\(server)\(port)/\(attributes["object"] ?? "")")
        ?? false
  }
}

/// The secret that a request carries.
struct GitGivenSecret {
  let bytes: SharedSecret

  /// The scheme of the header `Authorization`; `nil` for a password.
  let scheme: String?

  /// The secret of a request; `nil` if it has none.
  init?(_ request: GitCredentialRequest) {
    if let scheme = request.authenticationType, let credential = request.credential {
      (bytes, self.scheme) = (credential, scheme)
    } else if let password = request.password {
      (bytes, scheme) = (password, nil)
    } else {
      return nil
    }
  }

  /// Returns whether a stored credential is of the same scheme.
  func isOfScheme(of match: GitCredentialMatch) -> Bool {
    switch (scheme, match.scheme) {
    case (nil, nil): true
    case (let mine?, let other?): mine.hasSameBytesFoldingASCIICase(as: other)
    default: false
    }
  }

  /// Returns whether a stored secret is this one.
  func isEqual(to stored: GitSecret) -> Bool { bytes.bytes.isEqual(to: stored.password.bytes) }
}

extension GitSecret {
  /// Returns whether storing a request would change nothing.
  ///
  /// Parts that the request leaves out don't count. A password that has expired here but was used
  /// successfully has another expiry.
  func hasAll(of request: GitCredentialRequest, _ given: GitGivenSecret) -> Bool {
    guard given.isEqual(to: self), !isExpired else { return false }
    if let sent = request.expires {
      guard let expires, GitExpiry.seconds(expires) == GitExpiry.seconds(sent) else { return false }
    }
    guard let token = request.refreshToken else { return true }
    return refreshToken.map { $0.bytes.isEqual(to: token.bytes) } ?? false
  }
}

/// The parts of a credential's secret for git.
///
/// Usually it is the password. With a refresh token, it has the form in which git's own helper for
/// libsecret stores it: the password, then lines `key=value`.
struct GitSecret {
  /// The media type of a secret with lines after the password.
  static let contentType = "application/x-git-credential"

  static let refreshTokenKey = "oauth_refresh_token"
  static let expiryKey = "password_expiry_utc"

  let password: SharedSecret
  let refreshToken: SharedSecret?

  /// The end of the password's validity.
  let expires: Date?

  var isExpired: Bool { expires.map { $0 <= Date() } ?? false }

  init(_ stored: borrowing StoredSecret) throws {
    let credential = stored.credential
    let hasLines = credential.isOfOtherProgram || credential.contentType == Self.contentType
    var lines = GitSecretLines()
    try stored.secret.withBytes { try lines.read($0, hasLines: hasLines, of: credential.identity) }
    guard let password = lines.password else { throw KeychainError.notForGit(credential.identity) }
    self.password = password
    refreshToken = lines.refreshToken
    expires = credential.expires ?? lines.expires
  }
}

private struct GitSecretLines {
  var password: SharedSecret?
  var refreshToken: SharedSecret?
  var expires: Date?

  mutating func read(_ bytes: RawSpan, hasLines: Bool, of identity: CredentialIdentity) throws {
    var start = 0
    repeat {
      let end = bytes.index(of: UInt8(ascii: "\n"), from: start) ?? bytes.byteCount
      guard hasLines || end == bytes.byteCount else { throw KeychainError.notForGit(identity) }
      let line = bytes.extracting(start..<end)
      guard line.index(of: 0, from: 0) == nil, line.index(of: UInt8(ascii: "\r"), from: 0) == nil
      else { throw KeychainError.notForGit(identity) }
      if password == nil {
        password = try SharedSecret(copying: line)
      } else {
        try take(line, of: identity)
      }
      start = end + 1
    } while start <= bytes.byteCount
  }

  private mutating func take(_ line: RawSpan, of identity: CredentialIdentity) throws {
    // Text without a key is another program's secret, whose first line may not be a password.
    guard let sign = line.index(of: UInt8(ascii: "="), from: 0),
      let key = line.extracting(0..<sign).text
    else { throw KeychainError.notForGit(identity) }
    let value = line.extracting((sign + 1)..<line.byteCount)
    switch key {
    case GitSecret.refreshTokenKey: refreshToken = try SharedSecret(copying: value)
    case GitSecret.expiryKey: expires = GitExpiry.date(value.text)
    default: break
    }
  }
}

/// Lines `key=value` for git, in guarded memory.
struct GitCredentialAnswer: ~Copyable {
  private var buffer: SecretBuffer

  init() throws { buffer = try SecretBuffer(capacity: 256) }

  mutating func append(_ key: String, _ value: String) throws {
    try append(line: "\(key)=\(value)")
  }

  mutating func append(_ key: String, _ value: SharedSecret) throws {
    try buffer.append("\(key)=")
    try append(value)
    try append(line: "")
  }

  mutating func append(line: String) throws { try buffer.append(line + "\n") }

  mutating func append(_ value: SharedSecret) throws {
    try value.bytes.withBytes { try buffer.append($0) }
  }

  /// Returns the lines without the last bytes.
  consuming func finish(droppingLast count: Int = 0) throws -> SecretBytes {
    buffer.removeLast(count)
    return try buffer.finish()
  }
}
