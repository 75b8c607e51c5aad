import Foundation
import KeychainCredentials
import KeychainHelpers
import KeychainSecrets
import Testing

/// Answers requests from a store, as text.
struct GitRequests {
  let store: any CredentialStore
  var erasesOthers = false

  func callAsFunction(
    _ operation: GitCredentialOperation, _ lines: String...
  ) throws -> [String] {
    let request = try GitCredentialRequest.text(lines.joined(separator: "\n"))
    let helper = GitCredentialHelper(store: store, erasesOthers: erasesOthers)
    let answer = try helper.answer(operation, to: request)
    return (answer.text ?? "").split(separator: "\n").map(String.init)
  }
}

extension GitCredentialRequest {
  static func text(_ lines: String) throws -> Self {
    try GitCredentialRequest(parsing: SecretBytes(copying: lines))
  }
}

extension CredentialStore {
  /// Stores a fake secret of a server.
  func put(
    _ secret: String, _ password: InternetPassword, expires: Date? = nil, contentType: String? = nil
  ) throws {
    let identity = CredentialIdentity(.internetPassword(password))
    try set(
      Credential(identity, contentType: contentType, expires: expires),
      secret: SecretBytes(copying: secret))
  }

  /// The accounts, paths and secrets of all credentials.
  func contents() throws -> [String] {
    try search(CredentialQuery()).credentials.map { credential in
      guard case .internetPassword(let password) = credential.identity.kind else { return "?" }
      let secret = try self.secret(for: credential.identity)?.takeSecret().text ?? "-"
      return "\(password.account)/\(password.path)=\(secret)"
    }
  }
}
