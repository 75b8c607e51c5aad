internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

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
  func isEqual(to stored: GitSecret) -> Bool {
    bytes.bytes.isEqual(to: stored.password.bytes)
  }
}

extension GitSecret {
  /// Returns whether storing a request would change nothing.
  ///
  /// What the request leaves out is no difference. A password that has expired here and was used
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
