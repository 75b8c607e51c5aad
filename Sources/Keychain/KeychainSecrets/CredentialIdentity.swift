internal import PrephirencesSystem

/// The names of a credential, which are unique in a store.
///
/// Names compare as bytes. Two strings that look the same but have different Unicode scalars are
/// two names, although Swift's `==` considers them equal.
public struct CredentialIdentity: Hashable, Sendable {
  /// The access group of the credential; the empty string is the unnamed group.
  public var accessGroup: String

  /// The kind of credential, with its names.
  public var kind: Kind

  /// Creates an identity, by default in the unnamed access group.
  public init(_ kind: Kind, accessGroup: String = "") {
    self.kind = kind
    self.accessGroup = accessGroup
  }

  /// Returns the identity of a generic password, by default in the unnamed access group.
  public static func genericPassword(
    service: String, account: String, accessGroup: String = ""
  ) -> Self { Self(.genericPassword(service: service, account: account), accessGroup: accessGroup) }

  /// The kinds of credential.
  @nonexhaustive public enum Kind: Sendable {
    /// A password, token or key of a service.
    case genericPassword(service: String, account: String)

    /// A password of a network server.
    case internetPassword(InternetPassword)
  }

  /// The account, which every kind has.
  public var account: String {
    switch kind {
    case .genericPassword(_, let account): account
    case .internetPassword(let password): password.account
    }
  }
}

extension CredentialIdentity.Kind: Hashable {
  /// Compares kind and names, as bytes.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.genericPassword(let service, let account), .genericPassword(let other, let user)):
      account.hasSameBytes(as: user) && service.hasSameBytes(as: other)
    case (.internetPassword, .internetPassword):
      left.names.elementsEqual(right.names) { $0.hasSameBytes(as: $1) }
    default: false
    }
  }

  /// Hashes kind and names, as bytes.
  public func hash(into hasher: inout Hasher) { for name in names { name.hashUTF8(into: &hasher) } }

  /// The names in the order of the identity, with the port as decimal digits.
  package var names: [String] {
    switch self {
    case .genericPassword(let service, let account): [service, account]
    case .internetPassword(let password):
      [
        password.server, password.protocol, String(password.port), password.path,
        password.account, password.securityDomain, password.authenticationType,
      ]
    }
  }

  /// The names that are texts: all except the port.
  package var texts: [String] {
    guard case .internetPassword(let password) = self else { return names }
    return [
      password.server, password.protocol, password.path, password.account,
      password.securityDomain, password.authenticationType,
    ]
  }
}

extension CredentialIdentity {
  /// Compares group, kind and names, as bytes.
  public static func == (left: Self, right: Self) -> Bool {
    left.accessGroup.hasSameBytes(as: right.accessGroup) && left.kind == right.kind
  }

  /// Hashes group, kind and names, as bytes.
  public func hash(into hasher: inout Hasher) {
    accessGroup.hashUTF8(into: &hasher)
    hasher.combine(kind)
  }
}

extension CredentialIdentity: CustomStringConvertible {
  /// The name in errors and lists, never a secret.
  public var description: String {
    let name =
      switch kind {
      case .genericPassword(let service, let account): "'\(account)' of service '\(service)'"
      case .internetPassword(let password):
        "'\(password.account)' of server '\(password.server)'"
          + (password.protocol.isEmpty ? "" : ", protocol '\(password.protocol)'")
          + (password.port == 0 ? "" : ", port \(password.port)")
          + (password.path.isEmpty ? "" : ", path '\(password.path)'")
      }
    return accessGroup.isEmpty ? name : name + " in group '\(accessGroup)'"
  }

  /// At most 200 characters of the description, for errors about long names.
  package var shortDescription: String { description.shortened(to: 200) }
}

extension String {
  /// Returns the text, or its beginning with an ellipsis if it is longer.
  package func shortened(to count: Int) -> String {
    let beginning = unicodeScalars.prefix(count)
    return beginning.endIndex == endIndex ? self : String(beginning) + "…"
  }
}

<<<<<<< ours
||||||| base
extension InternetPassword {
  /// The port, or else the usual one of `http` or `https`; 0 if there is none.
  var effectivePort: UInt16 { Self.effectivePort(port, of: self.protocol) }

  /// Returns a port, or the usual one of a protocol if the port is 0.
  static func effectivePort(_ port: UInt16, of protocolName: String) -> UInt16 {
    guard port == 0 else { return port }
    return switch protocolName.foldingASCIICase {
    case "http": 80
    case "https": 443
    default: 0
    }
  }

  /// The same names in one form: other programs differ in case, usual port and first slash.
  fileprivate var normalized: InternetPassword {
    InternetPassword(
      server: server.foldingASCIICase, protocol: self.protocol.foldingASCIICase,
      port: effectivePort, path: path.withoutLeadingSlash, account: account,
      securityDomain: securityDomain, authenticationType: authenticationType)
  }
}

extension CredentialIdentity {
  /// The same identity in one form, for comparison with those of other programs.
  private var normalized: CredentialIdentity {
    guard case .internetPassword(let password) = kind else { return self }
    return CredentialIdentity(.internetPassword(password.normalized), accessGroup: accessGroup)
  }

  /// Returns the credentials without those of other programs that one of ours has replaced.
  ///
  /// A store keeps the other program's item when a credential of the same name is stored next to
  /// it; ours takes precedence from then on.
  package static func withoutReplaced(_ credentials: [Credential]) -> [Credential] {
    guard credentials.count > 1 else { return credentials }
    let own = Set(credentials.filter { !$0.isOfOtherProgram }.map(\.identity.normalized))
    return credentials.filter { !$0.isOfOtherProgram || !own.contains($0.identity.normalized) }
  }
}

extension String {
  var withoutLeadingSlash: String {
    utf8.first == UInt8(ascii: "/") ? String(decoding: utf8.dropFirst(), as: UTF8.self) : self
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

=======
extension InternetPassword {
  /// The port, or else the usual one of `http` or `https`; 0 if there is none.
  var effectivePort: UInt16 { Self.effectivePort(port, of: self.protocol) }

  /// Returns a port, or the usual one of a protocol if the port is 0.
  static func effectivePort(_ port: UInt16, of protocolName: String) -> UInt16 {
    guard port == 0 else { return port }
    return switch protocolName.foldingASCIICase {
    case "http": 80
    case "https": 443
    default: 0
    }
  }

  /// The same names in one form: other programs differ in case, usual port and first slash.
  fileprivate var normalized: InternetPassword {
    InternetPassword(
      server: server.foldingASCIICase, protocol: self.protocol.foldingASCIICase,
      port: effectivePort, path: path.withoutLeadingSlash, account: account,
      securityDomain: securityDomain, authenticationType: authenticationType)
  }
}

extension CredentialIdentity {
  /// The same identity in one form, for comparison with those of other programs.
  private var normalized: CredentialIdentity {
    guard case .internetPassword(let password) = kind else { return self }
    return CredentialIdentity(.internetPassword(password.normalized), accessGroup: accessGroup)
  }

  /// Returns the credentials without those of other programs that one of ours has replaced.
  ///
  /// A store keeps the other program's item when a credential of the same name is stored next to
  /// it; ours takes precedence from then on.
  package static func withoutReplaced(_ credentials: [Credential]) -> [Credential] {
    guard credentials.count > 1 else { return credentials }
    let own = Set(credentials.filter { !$0.isOfOtherProgram }.map(\.identity.normalized))
    return credentials.filter { !$0.isOfOtherProgram || !own.contains($0.identity.normalized) }
  }
}

extension String {
  var withoutLeadingSlash: String {
    utf8.first == UInt8(ascii: "/") ? String(decoding: utf8.dropFirst(), as: UTF8.self) : self
  }
}

>>>>>>> theirs