#if ConfigurationSupport
internal import Configuration
internal import PrephirencesConfiguration
internal import FoundationEssentials
internal import Keychain
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

/// A key that a provider answers for, with its credential.
struct DeclaredKey: Sendable {
  /// The components of the key, joined by full stops: the account.
  let name: String
  let identity: CredentialIdentity

  /// The text of its reference, which encoded keys show.
  let reference: String

  /// Returns the result for a secret; one that has expired, unless it is allowed, is already a
  /// failure.
  func result(_ read: ReadSecret, _ type: ConfigType) throws(KeychainError) -> LookupResult {
    guard let secret = try read.get() else {
      return LookupResult(encodedKey: reference, value: nil)
    }
    let content = try secret.content(as: type)
    return LookupResult(encodedKey: reference, value: ConfigValue(content, isSecret: true))
  }
}

/// The keys that a provider answers for, compared as bytes.
struct DeclaredKeys: Sendable {
  private let keys: [DeclaredKey]
  private let indices: [[UInt8]: Int]

  init(_ keys: [AbsoluteConfigKey], service: String) throws(KeychainError) {
    var (declared, indices): ([DeclaredKey], [[UInt8]: Int]) = ([], [:])
    for name in keys.map(\.valueName) where indices[Array(name.utf8)] == nil {
      guard !name.isEmpty else {
        throw KeychainError(.invalidArgument, "a key of the provider is empty")
      }
      let identity = CredentialIdentity.genericPassword(service: service, account: name)
      indices[Array(name.utf8)] = declared.count
      declared.append(
        DeclaredKey(
          name: name, identity: identity, reference: "\(CredentialReference(identity))"))
    }
    (self.keys, self.indices) = (declared, indices)
  }

  var identities: [CredentialIdentity] { keys.map(\.identity) }

  subscript(key: AbsoluteConfigKey) -> DeclaredKey? { index(of: key).map { keys[$0] } }

  /// The place of a key among ``identities``.
  func index(of key: AbsoluteConfigKey) -> Int? { indices[Array(key.valueName.utf8)] }

  subscript(index: Int) -> DeclaredKey { keys[index] }
}

extension LookupResult {
  /// The result for a key that a provider does not answer for.
  init(undeclared key: AbsoluteConfigKey) { self.init(encodedKey: key.valueName, value: nil) }
}

extension SharedStoredSecret {
  /// The secret, or the error if it has expired.
  var unexpired: Result<Self, KeychainError> {
    guard credential.isExpired() else { return .success(self) }
    return .failure(
      KeychainError(
        .expired, "the credential \(credential.identity) has expired",
        recovery: "store a new secret"))
  }

  /// Converts the secret; errors never contain it.
  func content(as type: ConfigType) throws(KeychainError) -> ConfigContent {
    let collection = type == .bytes ? nil : try credential.collection(secret)
    if let collection {
      if let content = ConfigContent(collection, as: type) { return content }
    } else if let content = secret.content(as: type) {
      return content
    }
    throw .undecodable("the secret \(credential.identity)", as: type)
  }
}

extension SharedSecret {
  /// Converts the bytes, or their text; `nil` if they are not a value of the type.
  func content(as type: ConfigType) -> ConfigContent? {
    bytes.withBytes { bytes in
      type == .bytes ? .bytes(bytes.array) : bytes.text.flatMap { ConfigContent($0, as: type) }
    }
  }
}

extension KeychainError {
  static func undecodable(_ name: String, as type: ConfigType) -> Self {
    Self(
      .undecodable,
      "\(name) is not a value of the type \(type.rawValue)"
        + (type == .string ? ": it is not UTF-8 text" : ""),
      recovery: "store another one, or read it as the type that it has")
  }
}
#endif
