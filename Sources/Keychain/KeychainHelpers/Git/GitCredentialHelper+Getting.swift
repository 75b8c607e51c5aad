internal import KeychainCredentials
internal import KeychainSecrets

extension GitCredentialHelper {
  /// Appends the credential that a request means; nothing if there is none.
  func get(
    _ request: GitCredentialRequest, _ answer: inout GitCredentialAnswer
  ) throws(KeychainError) {
    guard let server = try GitServer(request),
      let match = try matches(request, on: server).best(for: request, on: server),
      let stored = try store.secret(for: match.identity)
    else { return }
    let secret = try GitSecret(stored)
    guard match.scheme?.utf8.allSatisfy({ $0 > 32 && $0 != 127 }) ?? true else {
      throw .schemeNotForGit(match.identity)
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
  ) throws(KeychainError) -> String? {
    if let username = request.username { return username }
    let account = match.password.account
    let isOneLine = account.utf8.allSatisfy { ![0, 10, 13].contains($0) }
    guard isOneLine else { throw .nameNotForGit(match.identity) }
    // git stores an empty name with an empty password for servers that use Kerberos.
    return account.isEmpty && secret.password.bytes.count > 0 ? nil : account
  }
}
