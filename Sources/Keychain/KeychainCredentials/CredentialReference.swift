internal import PrephirencesSystem

/// The address of one field of a credential, as text that a file or a variable can hold in place of
/// a secret.
///
/// ```text
/// keychain://SERVICE/ACCOUNT
/// keychain+PROTOCOL://[ACCOUNT@]HOST[:PORT][/PATH]
/// ```
///
/// The first form names a generic password; an empty service, as in `keychain:///api`, is the
/// default service of whoever resolves it. The second form names an internet password, such as
/// `keychain+https://alice@git.example.com:8443`, or `keychain+://host` for one without a protocol.
///
/// Each part is percent-encoded UTF-8. A part is encoded where it has a control character, a space,
/// or one of `%/?#&`; a service or host, also where it has `@`; a host, also where it has `:`. An
/// IPv6 address is in brackets. These parameters may follow, after `?` and separated by `&`:
///
/// | parameter | meaning |
/// | --- | --- |
/// | `group=NAME` | the access group; without it, the unnamed one |
/// | `field=FIELD` | `secret` (default), `username`, `url`, `label` or `attribute:NAME` |
/// | `encoding=base64` | the field as base64 text, for bytes that are not text |
/// | `optional` | a missing credential or field is empty text; every other failure stays one |
/// | `security-domain=NAME` | of an internet password: its security domain |
/// | `authentication-type=NAME` | of an internet password: its authentication type |
///
/// An internet password may have any value of what the reference leaves out, except the protocol
/// and the port: see ``InternetPasswordPattern``. Unknown and repeated parameters are errors, and so
/// are parts that are missing, a fragment, and a user with a password.
public struct CredentialReference: Sendable {
  /// What a reference names.
  @nonexhaustive public enum Subject: Sendable {
    /// A generic password; the default service if the service is `nil` or empty.
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

  /// How a field is written.
  @nonexhaustive public enum Encoding: Hashable, Sendable {
    /// The bytes as they are.
    case none

    /// Base64 with padding, as in RFC 4648, section 4.
    case base64
  }

  /// What the reference names.
  public var subject: Subject

  /// The access group; empty for the unnamed one.
  public var accessGroup: String

  /// The part of the credential.
  public var field: Field

  /// How the part is written.
  public var encoding: Encoding

  /// Whether a missing credential or field is empty text instead of an error.
  public var isOptional: Bool

  /// Creates a reference.
  ///
  /// - Parameters:
  ///   - subject: What the reference names.
  ///   - accessGroup: The access group; empty for the unnamed one.
  ///   - field: The part of the credential.
  ///   - encoding: How the part is written.
  ///   - isOptional: Whether a missing credential or field is empty text instead of an error.
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
  ///
  /// - Parameter identity: The identity of the credential.
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

  /// Returns the service of a generic password, or the server of an internet password.
  ///
  /// - Parameter defaultService: The service of a reference that names none.
  /// - Returns: The name.
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
  /// protocol and port do not count.
  ///
  /// - Parameters:
  ///   - service: The name of the service or server.
  ///   - defaultService: The service of a reference that names none.
  /// - Returns: `true` if it is.
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
  ///
  /// - Parameter hasher: Takes the bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(subject)
    accessGroup.hashUTF8(into: &hasher)
    hasher.combine(field)
    hasher.combine(encoding)
    hasher.combine(isOptional)
  }
}

extension CredentialReference.Subject: Hashable {
  /// Compares the names as bytes; an empty service is the same as none.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.genericPassword(let service, let account), .genericPassword(let other, let owner)):
      (service ?? "").hasSameBytes(as: other ?? "") && account.hasSameBytes(as: owner)
    case (.internetPassword(let pattern), .internetPassword(let other)): pattern == other
    default: false
    }
  }

  /// Hashes the names as they are compared.
  ///
  /// - Parameter hasher: Takes the bytes.
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
  ///
  /// - Parameter hasher: Takes the bytes.
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
  ///
  /// - Parameter hasher: Takes the bytes.
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
  /// It is parsed into an equal reference, except where a name of `self` is one that no text can
  /// have: an empty account of a generic password, an empty server or attribute name, or a control
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
  /// Whether the text is brackets around what may be an IPv6 address.
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
