internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

/// What the secret of a credential means to git.
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

  /// The time until which the password is valid.
  let expires: Date?

  var isExpired: Bool { expires.map { $0 <= Date() } ?? false }

  /// Reads the secret of a credential.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/undecodable`` if git cannot take it.
  init(_ stored: borrowing StoredSecret) throws(KeychainError) {
    let credential = stored.credential
    let hasLines = credential.isOfOtherProgram || credential.contentType == Self.contentType
    var lines = GitSecretLines()
    try stored.secret.withBytes { bytes throws(KeychainError) in
      try lines.read(bytes, hasLines: hasLines, of: credential.identity)
    }
    guard let password = lines.password else { throw .notForGit(credential.identity) }
    self.password = password
    refreshToken = lines.refreshToken
    expires = credential.expires ?? lines.expires
  }
}

/// The lines of a secret.
private struct GitSecretLines {
  var password: SharedSecret?
  var refreshToken: SharedSecret?
  var expires: Date?

  mutating func read(
    _ bytes: RawSpan, hasLines: Bool, of identity: CredentialIdentity
  ) throws(KeychainError) {
    var start = 0
    repeat {
      let end = bytes.index(of: UInt8(ascii: "\n"), from: start) ?? bytes.byteCount
      guard hasLines || end == bytes.byteCount else { throw .notForGit(identity) }
      let line = bytes.extracting(start..<end)
      guard line.index(of: 0, from: 0) == nil, line.index(of: UInt8(ascii: "\r"), from: 0) == nil
      else { throw .notForGit(identity) }
      if password == nil {
        password = try SharedSecret(copying: line)
      } else {
        try take(line, of: identity)
      }
      start = end + 1
    } while start <= bytes.byteCount
  }

  private mutating func take(
    _ line: RawSpan, of identity: CredentialIdentity
  ) throws(KeychainError) {
    // Text without a key is another program's secret, of which the first line may be no password.
    guard let sign = line.index(of: UInt8(ascii: "="), from: 0),
      let key = line.extracting(0..<sign).text
    else { throw .notForGit(identity) }
    let value = line.extracting((sign + 1)..<line.byteCount)
    switch key {
    case GitSecret.refreshTokenKey: refreshToken = try SharedSecret(copying: value)
    case GitSecret.expiryKey: expires = GitExpiry.date(value.text)
    default: break
    }
  }
}
