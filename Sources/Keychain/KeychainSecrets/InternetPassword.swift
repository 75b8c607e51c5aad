internal import PrephirencesSystem

/// The names of an internet password; missing names are empty, or 0 for the port.
public struct InternetPassword: Sendable {
  /// The host name or address.
  public var server: String

  /// The protocol, such as `https`.
  public var `protocol`: String

  /// The port, 1 to 65535; 0 if it is missing.
  public var port: UInt16

  /// The path on the server.
  public var path: String

  /// The account on the server.
  public var account: String

  /// The security domain (realm).
  public var securityDomain: String

  /// The authentication type, such as `httpBasic`.
  public var authenticationType: String

  /// Creates the names of an internet password; a missing port is 0.
  public init(
    server: String, protocol: String = "", port: UInt16 = 0, path: String = "", account: String,
    securityDomain: String = "", authenticationType: String = ""
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

extension InternetPassword: Hashable {
  /// Compares the names as bytes.
  public static func == (left: Self, right: Self) -> Bool {
    CredentialIdentity.Kind.internetPassword(left) == .internetPassword(right)
  }

  /// Hashes the names as bytes.
  public func hash(into hasher: inout Hasher) {
    CredentialIdentity.Kind.internetPassword(self).hash(into: &hasher)
  }
}
