internal import PrephirencesSystem

/// The address of one field of a credential: text that a file or a variable can contain instead of
/// a secret.
///
/// ```text
/// keychain://SERVICE/ACCOUNT
/// keychain+PROTOCOL://[ACCOUNT@]HOST[:PORT][/PATH]
/// ```
///
/// The first form names a generic password. An empty service, as in `keychain:///api`, is the
/// default service of the reader. The second form names an internet password, such as
/// `keychain+https://alice@git.example.com:8443`, or `keychain+://host` for one without a protocol.
///
/// Each part is percent-encoded UTF-8. Encoded are control characters, spaces and `%/?#&`; in
/// services and hosts, also `@`; in hosts, also `:`. An IPv6 address is in brackets. These
/// parameters may follow, after `?` and separated by `&`:
///
/// | parameter | meaning |
/// | --- | --- |
/// | `group=NAME` | the access group; without it, the unnamed one |
/// | `field=FIELD` | `secret` (default), `username`, `url`, `label` or `attribute:NAME` |
/// | `encoding=base64` | the field as base64 text, for bytes that are not text |
/// | `optional` | a missing credential or field is empty text; other failures remain errors |
/// | `security-domain=NAME` | of an internet password: its security domain |
/// | `authentication-type=NAME` | of an internet password: its authentication type |
///
/// An internet password may have any value for a name that the reference leaves out, except the
/// protocol and the port: see ``InternetPasswordPattern``. Unknown and repeated parameters are
/// errors, and so are missing parts, a fragment, and a user with a password.
public struct CredentialReference: Sendable {
  /// The credential that a reference names.
  @nonexhaustive public enum Subject: Sendable {
    /// A generic password, of the default service if the service is `nil` or empty.
    case genericPassword(service: String?, account: String)

    /// An internet password.
    case internetPassword(InternetPasswordPattern)
  }

  /// The part of a credential that a reference names.
  @nonexhaustive public enum Field: Sendable {
    /// The secret.
    case secret

    /// The account.
    case username

    /// The URL of an internet password, without its account: `https://host:8443/path`.
    case url

    /// The label.
    case label

    /// The value of an attribute.
    case attribute(String)
  }

  /// The form in which a field is returned.
  @nonexhaustive public enum Encoding: Hashable, Sendable {
    /// Its bytes, unchanged.
    case none

    /// Base64 with padding, as in RFC 4648, section 4.
    case base64
  }

  /// The credential.
  public var subject: Subject

  /// The access group; empty for the unnamed one.
  public var accessGroup: String

  /// The part of the credential.
  public var field: Field

  /// The form of the part.
  public var encoding: Encoding

  /// Whether a missing credential or field is empty text instead of an error.
  public var isOptional: Bool

  /// Creates a reference; each argument is the property of its name.
  public init(
    _ subject: Subject, accessGroup: String = "", field: Field = .secret,
    encoding: Encoding = .none, isOptional: Bool = false
  ) {
    self.subject = subject
    self.accessGroup = accessGroup
    self.field = field
    self.encoding = encoding
    self.isOptional = isOptional
  }
}

extension CredentialReference {
  /// Creates the reference to the secret of a credential, with all its names.
  public init(_ identity: CredentialIdentity) {
    let subject: Subject =
      switch identity.kind {
      case .genericPassword(let service, let account):
        .genericPassword(service: service, account: account)
      case .internetPassword(let password):
        .internetPassword(
          InternetPasswordPattern(
            server: password.server, protocol: password.protocol, port: password.port,
            path: password.path.isEmpty ? nil : password.path, account: password.account,
            securityDomain: password.securityDomain.isEmpty ? nil : password.securityDomain,
            authenticationType: password.authenticationType.isEmpty
              ? nil : password.authenticationType))
      }
    self.init(subject, accessGroup: identity.accessGroup)
  }

  /// Returns the service of a generic password, by default `defaultService`, or the server of an
  /// internet password.
  public func serviceName(default defaultService: String) -> String {
    switch subject {
    case .genericPassword(let service, _):
      service.flatMap { $0.isEmpty ? nil : $0 } ?? defaultService
    case .internetPassword(let pattern): pattern.server
    }
  }

  /// Returns whether the reference is to a credential of a service or server.
  ///
  /// Services compare as bytes; servers, without regard to the case of ASCII letters. Access group,
  /// protocol and port do not count. `defaultService` is the service of a reference without one.
  public func belongs(to service: String, defaultService: String) -> Bool {
    let name = serviceName(default: defaultService)
    return switch subject {
    case .genericPassword: name.hasSameBytes(as: service)
    case .internetPassword: name.hasSameBytesFoldingASCIICase(as: service)
    }
  }
}

extension CredentialReference: Hashable {
  /// Compares all parts: names as bytes, and the protocol without regard to the case of ASCII
  /// letters.
  public static func == (left: Self, right: Self) -> Bool {
    left.subject == right.subject && left.accessGroup.hasSameBytes(as: right.accessGroup)
      && left.field == right.field && left.encoding == right.encoding
      && left.isOptional == right.isOptional
  }

  /// Hashes all parts as they are compared.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(subject)
    accessGroup.hashUTF8(into: &hasher)
    hasher.combine(field)
    hasher.combine(encoding)
    hasher.combine(isOptional)
  }
}

extension CredentialReference.Subject: Hashable {
  /// Compares the names as bytes; an empty service equals a missing one.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.genericPassword(let service, let account), .genericPassword(let other, let owner)):
      (service ?? "").hasSameBytes(as: other ?? "") && account.hasSameBytes(as: owner)
    case (.internetPassword(let pattern), .internetPassword(let other)): pattern == other
    default: false
    }
  }

  /// Hashes the names as they are compared.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .genericPassword(let service, let account):
      (service ?? "").hashUTF8(into: &hasher)
      account.hashUTF8(into: &hasher)
    case .internetPassword(let pattern): hasher.combine(pattern)
    }
  }
}

extension CredentialReference.Field: Hashable {
  /// Compares the fields, and the names of attributes as bytes.
  public static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

  /// Hashes the field as it is compared.
  public func hash(into hasher: inout Hasher) { text.hashUTF8(into: &hasher) }

  /// The value of the parameter, without percent-encoding.
  var text: String {
    switch self {
    case .secret: "secret"
    case .username: "username"
    case .url: "url"
    case .label: "label"
    case .attribute(let name): Self.attributePrefix + name
    }
  }

  static let attributePrefix = "attribute:"
}

extension InternetPasswordPattern: Hashable {
  /// Compares the names as bytes, and the protocol without regard to the case of ASCII letters.
  public static func == (left: Self, right: Self) -> Bool {
    left.port == right.port
      && left.names.elementsEqual(right.names) { name, other in
        guard let name, let other else { return name == nil && other == nil }
        return name.hasSameBytes(as: other)
      }
  }

  /// Hashes the names as they are compared.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(port)
    for name in names {
      hasher.combine(name == nil)
      name?.hashUTF8(into: &hasher)
    }
  }

  private var names: [String?] {
    [server, self.protocol.foldingASCIICase, path, account, securityDomain, authenticationType]
  }
}

extension CredentialReference: CustomStringConvertible {
  /// The canonical text, in ASCII.
  ///
  /// It is parsed into an equal reference, unless a name of `self` is one that no text can contain:
  /// an empty account of a generic password, an empty server or attribute name, or a control
  /// character.
  public var description: String {
    let parameters = self.parameters
    return address + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
  }

  private var address: String {
    switch subject {
    case .genericPassword(let service, let account):
      "keychain://\((service ?? "").percentEncoded(keeping: ":"))/"
        + account.percentEncoded(keeping: "@:")
    case .internetPassword(let pattern): pattern.address
    }
  }

  private var parameters: [String] {
    var parameters: [String] = []
    if !accessGroup.isEmpty { parameters.append("group=" + accessGroup.percentEncoded()) }
    if case .internetPassword(let pattern) = subject {
      parameters += pattern.securityDomain.map { ["security-domain=" + $0.percentEncoded()] } ?? []
      parameters +=
        pattern.authenticationType.map { ["authentication-type=" + $0.percentEncoded()] } ?? []
    }
    if field != .secret { parameters.append("field=" + field.text.percentEncoded(keeping: ":")) }
    if encoding == .base64 { parameters.append("encoding=base64") }
    if isOptional { parameters.append("optional") }
    return parameters
  }
}

extension InternetPasswordPattern {
  /// The reference's text without parameters.
  fileprivate var address: String {
    let host = server.isAddressInBrackets ? server : server.percentEncoded()
    return "keychain+\(self.protocol.foldingASCIICase.percentEncoded(keeping: "+"))://"
      + (account.map { $0.percentEncoded() + "@" } ?? "") + host
      + (port == 0 ? "" : ":\(port)") + (path.map { "/" + $0.percentEncoded(keeping: "/@:") } ?? "")
  }
}

extension String {
  /// Whether the text is in brackets and may be an IPv6 address.
  var isAddressInBrackets: Bool {
    let bytes = utf8
    guard bytes.count > 2, bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") else {
      return false
    }
    return bytes.dropFirst().dropLast().allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "."):
        true
      default: false
      }
    }
  }
}
