internal import KeychainSecrets
internal import PrephirencesSystem

extension Credential {
  /// The text of a field; `nil` if the credential has none.
  func text(of field: CredentialReference.Field) -> String? {
    switch field {
    case .secret: nil
    case .username: identity.account.isEmpty ? nil : identity.account
    case .url: identity.kind.url
    case .label: label
    case .attribute(let name): attributes[name]
    }
  }
}

extension CredentialIdentity.Kind {
  /// The URL of an internet password, without its account.
  ///
  /// A server may be stored as a URL already; it stays as it is.
  fileprivate var url: String? {
    guard case .internetPassword(let password) = self else { return nil }
    let path = password.path.percentEncoded(keeping: "/!$&'()*+,;=:@")
    let slash = path.isEmpty || path.utf8.first == UInt8(ascii: "/") ? "" : "/"
    return (password.protocol.isEmpty ? "" : password.protocol + "://") + password.server
      + (password.port == 0 ? "" : ":\(password.port)") + slash + path
  }
}

extension CredentialReference.Encoding {
  /// Returns bytes in this encoding.
  func encode(_ bytes: consuming SecretBytes) throws(KeychainError) -> SecretBytes {
    guard self == .base64 else { return bytes }
    let plain = bytes
    return try translating { () throws(SecretsError) in try plain.base64Encoded(after: "") }
  }
}

extension KeychainError {
  static func noMatch(_ reference: CredentialReference) -> Self {
    let name = CredentialReference(reference.subject, accessGroup: reference.accessGroup)
    return Self(.notFound, "no internet password matches '\(name)'")
  }

  static func noField(
    _ field: CredentialReference.Field, of identity: CredentialIdentity
  ) -> Self {
    let name =
      switch field {
      case .secret: "secret"
      case .username: "account"
      case .url: "URL"
      case .label: "label"
      case .attribute(let name): "attribute '\(name)'"
      }
    return Self(.notFound, "\(identity) has no \(name)")
  }

  static func expired(_ identity: CredentialIdentity) -> Self {
    Self(.expired, "\(identity) has expired", recovery: "store a new secret")
  }

  static func ambiguousReference(_ identities: [CredentialIdentity]) -> Self {
    let names = identities.map(\.description).joined(separator: "; ")
    return Self(
      .ambiguous, "the reference matches \(identities.count) credentials: \(names)",
      recovery: "name more in the reference, such as the account or the path")
  }
}
