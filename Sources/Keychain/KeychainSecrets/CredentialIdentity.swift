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
