internal import PrephirencesSystem

extension CredentialReference {
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
  public static func == (left: Self, right: Self) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

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
