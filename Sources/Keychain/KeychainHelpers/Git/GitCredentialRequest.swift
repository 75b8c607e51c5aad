public import Foundation
internal import KeychainCredentials

/// What git says about a credential that it needs, has used, or wants to be removed.
///
/// git sends it as lines `key=value`, see git-credential(1). Secrets in it are kept in guarded memory
/// and have no public property.
public struct GitCredentialRequest: Sendable {
  /// The protocol, such as `https`; `nil` if it is missing or empty.
  public internal(set) var `protocol`: String?

  /// The host name with the port, such as `example.com:8443`; `nil` if it is missing or empty.
  public internal(set) var host: String?

  /// The path on the server, which git sends only with `credential.useHttpPath`; `nil` if it is
  /// missing.
  public internal(set) var path: String?

  /// The user name, which may be empty; `nil` if it is missing.
  public internal(set) var username: String?

  /// The scheme of ``credential``, such as `Bearer`; `nil` for a password.
  public internal(set) var authenticationType: String?

  /// When the password stops being valid; `nil` if that is not said.
  public internal(set) var expires: Date?

  /// Whether the credential must not be stored.
  public internal(set) var isEphemeral = false

  /// Whether git understands credentials that are no password.
  public internal(set) var understandsAuthenticationTypes = false

  /// The password, if one is sent.
  var password: SharedSecret?

  /// What follows the scheme in the header `Authorization`, if it is sent.
  var credential: SharedSecret?

  /// The token with which another helper can renew the password, if it is sent.
  var refreshToken: SharedSecret?

  /// Creates a request that says nothing.
  public init() {}
}
