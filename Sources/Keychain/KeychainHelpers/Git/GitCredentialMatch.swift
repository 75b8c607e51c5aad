internal import Foundation
internal import KeychainCredentials
internal import PrephirencesSystem

/// A credential that a request may mean.
struct GitCredentialMatch {
  let credential: Credential
  let password: InternetPassword

  /// Matches a credential with a request; `nil` if it is for something else.
  ///
  /// The server must be equal. A path and a user may be left out by either side, and are equal
  /// otherwise. What is no password is for no other user than its own: git sends it without a name,
  /// so the server would not notice.
  init?(_ credential: Credential, _ request: GitCredentialRequest, _ server: GitServer) {
    guard case .internetPassword(let password) = credential.identity.kind,
      server.isServer(of: password),
      Self.agrees(password.path.relativePath, request.path?.relativePath),
      Self.agrees(password.account, request.username),
      !password.account.isEmpty || (request.username ?? "").isEmpty
        || GitAuthentication.scheme(of: password) == nil
    else { return nil }
    self.credential = credential
    self.password = password
  }

  private static func agrees(_ stored: String, _ sent: String?) -> Bool {
    guard let sent, !stored.isEmpty else { return true }
    return stored.hasSameBytes(as: sent)
  }

  var identity: CredentialIdentity { credential.identity }

  /// The scheme of the header `Authorization`; `nil` for a password.
  var scheme: String? { GitAuthentication.scheme(of: password) }

  /// Whether neither a path nor a user that the request has is left out.
  func hasAllNames(of request: GitCredentialRequest) -> Bool {
    hasPath(of: request) && (request.username ?? "").hasSameBytes(as: password.account)
  }

  /// Whether the path is that of a request, also if it is left out by both.
  func hasPath(of request: GitCredentialRequest) -> Bool {
    (request.path ?? "").relativePath.hasSameBytes(as: password.path.relativePath)
  }

  /// How well the credential fits: first what was asked for; lower is better.
  func fit(_ request: GitCredentialRequest) -> [Int] {
    // Without a user in the request, an answer with one is complete.
    let user =
      request.username.map { $0.hasSameBytes(as: password.account) } ?? !password.account.isEmpty
    return [hasPath(of: request) ? 0 : 1, user ? 0 : 1, scheme == nil ? 0 : 1]
  }

  /// Which of several credentials of one account is preferred; lower is better.
  func preference(_ server: GitServer) -> [Int] {
    [
      credential.isExpired() ? 1 : 0, credential.isOfOtherProgram ? 1 : 0,
      password.port == server.port ? 0 : 1, password.securityDomain.isEmpty ? 0 : 1,
      password.authenticationType.isEmpty ? 0 : 1,
    ]
  }
}

extension String {
  /// A path without the slash at its beginning, which git does not send.
  var relativePath: String { hasPrefix("/") ? String(dropFirst()) : self }
}

/// The authentication types of internet passwords, as git sees them.
enum GitAuthentication {
  /// Returns the scheme of a credential for the header `Authorization`; `nil` if it is a password.
  ///
  /// Types such as `httpBasic` and `htmlForm`, which other programs write, are those of passwords.
  static func scheme(of password: InternetPassword) -> String? {
    let type = password.authenticationType
    let known = type.foldingASCIICase
    let isPassword = ["http", "html", "default"].contains { known.hasPrefix($0) }
    return type.isEmpty || isPassword ? nil : type
  }
}

extension [GitCredentialMatch] {
  /// Returns the credential that a request means; `nil` if there is none.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/ambiguous`` if credentials of several
  ///   accounts or paths fit equally well.
  func best(
    for request: GitCredentialRequest, on server: GitServer
  ) throws(KeychainError) -> GitCredentialMatch? {
    let known = filter { $0.scheme == nil || request.understandsAuthenticationTypes }
    guard let fit = known.map({ $0.fit(request) }).min(by: { $0.lexicographicallyPrecedes($1) })
    else { return nil }
    let fitting = known.filter { $0.fit(request) == fit }
    let first = fitting[0].password
    let areAlike = fitting.allSatisfy {
      $0.password.account.hasSameBytes(as: first.account)
        && $0.password.path.relativePath.hasSameBytes(as: first.path.relativePath)
    }
    guard areAlike else { throw .ambiguousForGit(fitting.map(\.identity)) }
    return fitting.min { left, right in
      let (mine, other) = (left.preference(server), right.preference(server))
      if mine != other { return mine.lexicographicallyPrecedes(other) }
      return left.credential.modified > right.credential.modified
    }
  }
}

extension Credential {
  /// Whether git's own helper for libsecret stored it, of which everything is known then.
  var isOfGitLibsecret: Bool {
    let names = ["xdg:schema", "user", "protocol", "server", "port", "object"]
    let attributes = itemAttributes
    guard isOfOtherProgram, attributes.allSatisfy({ names.contains($0.name) }),
      let schema = attributes["xdg:schema"]
    else { return false }
    if schema.hasSameBytes(as: "org.git.Password") { return true }
    // Before git 2.42, it took a schema that others use, too; but only it writes this label.
    guard let name = attributes["protocol"], let server = attributes["server"] else { return false }
    let port = attributes["port"].map { ":\($0)" } ?? ""
    return schema.hasSameBytes(as: "org.gnome.keyring.NetworkPassword")
      && label?.hasSameBytes(as: "Git: \(name)://\(server)\(port)/\(attributes["object"] ?? "")")
        ?? false
  }
}
