/// The names of an internet password, as far as a reference gives them.
///
/// Exactly one credential must match:
///
/// - The server and the protocol are the same, apart from the case of ASCII letters.
/// - The port is the same, as in a URL: a missing port is the usual one of `http` and `https`.
/// - Other names are the same bytes where they are given. Of paths, a slash at the beginning does
///   not count, because programs differ in writing it.
///
/// If several credentials match, and one of them has no name that the pattern leaves out, then that
/// one is meant. So `keychain+https://alice@host` prefers the password for the whole host to those
/// for paths on it.
public struct InternetPasswordPattern: Sendable {
  /// The host name or address; an IPv6 address is in brackets.
  public var server: String

  /// The protocol, such as `https`; empty for a password without one.
  public var `protocol`: String

  /// The port; 0 if it is not given.
  public var port: UInt16

  /// The path; `nil` for any, empty for a password without one.
  public var path: String?

  /// The account; `nil` for any.
  public var account: String?

  /// The security domain (realm); `nil` for any.
  public var securityDomain: String?

  /// The authentication type; `nil` for any.
  public var authenticationType: String?

  /// Creates a pattern.
  ///
  /// - Parameters:
  ///   - server: The host name or address.
  ///   - protocol: The protocol; empty for a password without one.
  ///   - port: The port, or 0.
  ///   - path: The path; `nil` for any.
  ///   - account: The account; `nil` for any.
  ///   - securityDomain: The security domain; `nil` for any.
  ///   - authenticationType: The authentication type; `nil` for any.
  public init(
    server: String, protocol: String, port: UInt16 = 0, path: String? = nil,
    account: String? = nil, securityDomain: String? = nil, authenticationType: String? = nil
  ) {
    self.server = server
    self.protocol = `protocol`
    self.port = port
    self.path = path
    self.account = account
    self.securityDomain = securityDomain
    self.authenticationType = authenticationType
  }
}
