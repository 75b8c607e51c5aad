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

/// The names of an internet password, as far as a reference has them.
///
/// Exactly one credential must match:
///
/// - The server and the protocol are the same, apart from the case of ASCII letters.
/// - The port is the same, as in a URL: a missing port is the usual one of `http` and `https`.
/// - Each other name in the pattern has the same bytes. The first slash of a path is ignored,
///   because programs differ in writing it.
///
/// If several credentials match, but only one of them has no further names, the pattern means that
/// one. So `keychain+https://alice@host` prefers the password for the whole host to those for paths
/// on it.
public struct InternetPasswordPattern: Sendable {
  /// The host name or address; an IPv6 address is in brackets.
  public var server: String

  /// The protocol, such as `https`; empty for a password without one.
  public var `protocol`: String

  /// The port; 0 if it is missing.
  public var port: UInt16

  /// The path; `nil` for any, empty for a password without one.
  public var path: String?

  /// The account; `nil` for any.
  public var account: String?

  /// The security domain (realm); `nil` for any.
  public var securityDomain: String?

  /// The authentication type; `nil` for any.
  public var authenticationType: String?

  /// Creates a pattern; an empty protocol means a password without one, a port of 0 means the usual
  /// one, and `nil` means any name.
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

  /// Returns whether a credential is an internet password with the given names.
  public func matches(_ credential: Credential) -> Bool {
    guard case .internetPassword(let password) = credential.identity.kind else { return false }
    return password.server.hasSameBytesFoldingASCIICase(as: server)
      && password.protocol.hasSameBytesFoldingASCIICase(as: self.protocol)
      && password.effectivePort == InternetPassword.effectivePort(port, of: self.protocol)
      && Self.allows(path?.withoutLeadingSlash, password.path.withoutLeadingSlash)
      && Self.allows(account, password.account)
      && Self.allows(securityDomain, password.securityDomain)
      && Self.allows(authenticationType, password.authenticationType)
  }

  /// The identity with the given names and no others.
  var exactKind: CredentialIdentity.Kind {
    .internetPassword(
      InternetPassword(
        server: server, protocol: self.protocol, port: port, path: path ?? "",
        account: account ?? "", securityDomain: securityDomain ?? "",
        authenticationType: authenticationType ?? ""))
  }

  /// Returns whether a matching credential has no names beyond the pattern's.
  func hasNothingElse(_ credential: Credential) -> Bool {
    guard case .internetPassword(let password) = credential.identity.kind else { return false }
    let others = [
      (path, password.path), (account, password.account),
      (securityDomain, password.securityDomain), (authenticationType, password.authenticationType),
    ]
    return others.allSatisfy { given, name in given != nil || name.isEmpty }
  }

  private static func allows(_ given: String?, _ name: String) -> Bool {
    given.map(name.hasSameBytes) ?? true
  }
}
