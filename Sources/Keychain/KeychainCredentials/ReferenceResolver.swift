public import KeychainSecrets
internal import PrephirencesSystem

/// Reads the fields that references name, from a store.
///
/// ```swift
/// let resolver = ReferenceResolver(store: store, defaultService: "mytool")
/// let token = try resolver.resolve(CredentialReference("keychain:///api"))
/// ```
///
/// Nothing is cached: each call reads the store.
public struct ReferenceResolver: Sendable {
  /// The store to read.
  public let store: any CredentialStore

  /// The service of references without one.
  public let defaultService: String

  /// Whether expired secrets are returned; `false` by default.
  public var allowsExpired = false

  private let unlock: @Sendable (CredentialQuery) throws(KeychainError) -> Void
  private let unlocking: @Sendable (CredentialQuery) throws(KeychainError) -> KeychainError.Recovery

  /// Creates a resolver.
  ///
  /// - Parameters:
  ///   - defaultService: The service of references without one.
  ///   - unlock: Unlocks the stores of a search that finds only locked items, or throws. It is not
  ///     needed for a vault whose credentials are named exactly: the vault unlocks as it is
  ///     configured.
  public init(
    store: any CredentialStore, defaultService: String,
    unlock: @escaping @Sendable (CredentialQuery) throws(KeychainError) -> Void = {
      _ throws(KeychainError) in
    }
  ) {
    self.init(
      store: store, defaultService: defaultService, unlock: unlock,
      unlocking: { _ throws(KeychainError) in "unlock the store that has them" })
  }

  /// Creates a resolver with the way in which a person unlocks stores.
  package init(
    store: any CredentialStore, defaultService: String,
    unlock: @escaping @Sendable (CredentialQuery) throws(KeychainError) -> Void,
    unlocking:
      @escaping @Sendable (CredentialQuery) throws(KeychainError) -> KeychainError.Recovery
  ) {
    self.store = store
    self.defaultService = defaultService
    self.unlock = unlock
    self.unlocking = unlocking
  }

  /// Returns the field that a reference names, in the reference's encoding.
  ///
  /// It is empty if the reference is optional, and the credential or field is missing. The account,
  /// label, URL and attributes of an expired credential are returned; its secret only if
  /// ``allowsExpired`` is set.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/notFound`` if the credential or field is
  ///   missing, ``KeychainError/Code/expired``, ``KeychainError/Code/ambiguous`` if several
  ///   credentials match, or as ``CredentialStore/secret(for:)``.
  public func resolve(_ reference: CredentialReference) throws(KeychainError) -> SecretBytes {
    guard let identity = try identity(of: reference) else {
      return try absent(reference, .noMatch(reference))
    }
    guard reference.field == .secret else { return try text(of: identity, reference) }
    guard let stored = try store.secret(for: identity) else {
      return try absent(reference, .notFound(identity))
    }
    guard allowsExpired || !stored.credential.isExpired() else { throw .expired(identity) }
    return try reference.encoding.encode(stored.takeSecret())
  }

  /// Returns the identity of the credential that a reference names.
  ///
  /// A generic password's identity is returned whether or not it exists; `nil` means that no
  /// internet password matches.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/ambiguous`` if several match, with
  ///   ``KeychainError/Code/locked`` if locked items may match, or as
  ///   ``CredentialStore/search(_:)``.
  public func identity(
    of reference: CredentialReference
  ) throws(KeychainError) -> CredentialIdentity? {
    switch reference.subject {
    case .genericPassword(_, let account):
      .genericPassword(
        service: reference.serviceName(default: defaultService), account: account,
        accessGroup: reference.accessGroup)
    case .internetPassword(let pattern):
      try identity(matching: pattern, accessGroup: reference.accessGroup)
    }
  }

  private func text(
    of identity: CredentialIdentity, _ reference: CredentialReference
  ) throws(KeychainError) -> SecretBytes {
    guard let credential = try store.credential(for: identity) else {
      return try absent(reference, .notFound(identity))
    }
    guard let text = credential.text(of: reference.field) else {
      return try absent(reference, .noField(reference.field, of: identity))
    }
    return try reference.encoding.encode(SecretBytes(copying: text))
  }

  private func absent(
    _ reference: CredentialReference, _ failure: KeychainError
  ) throws(KeychainError) -> SecretBytes {
    guard reference.isOptional else { throw failure }
    return try SecretBytes(copying: "")
  }

  // For internet passwords.
  private func identity(
    matching pattern: InternetPasswordPattern, accessGroup: String
  ) throws(KeychainError) -> CredentialIdentity? {
    let exact = CredentialIdentity(pattern.exactKind, accessGroup: accessGroup)
    if try isStoredHere(exact) { return exact }
    let found = CredentialIdentity.withoutReplaced(
      try credentials(matching: pattern, accessGroup: accessGroup))
    guard found.count > 1 else { return found.first?.identity }
    let exactly = found.filter(pattern.hasNothingElse)
    guard exactly.count == 1 else { throw .ambiguousReference(found.map(\.identity)) }
    return exactly.first?.identity
  }

  /// Returns whether there is a credential with exactly these names.
  ///
  /// The store also finds items of other programs whose names differ, such as in the port. There
  /// may be several of them, so the search compares them.
  private func isStoredHere(_ identity: CredentialIdentity) throws(KeychainError) -> Bool {
    do throws(KeychainError) {
      return try store.credential(for: identity).map { !$0.isOfOtherProgram } ?? false
    } catch let error where error.code == .ambiguous {
      return false
    }
  }

  /// Searches the host as it is written, then in small letters, because stores compare bytes.
  private func credentials(
    matching pattern: InternetPasswordPattern, accessGroup: String
  ) throws(KeychainError) -> [Credential] {
    let searcher = CredentialSearcher(store: store, unlock: unlock, unlocking: unlocking)
    var query = CredentialQuery(accessGroup: accessGroup, server: pattern.server)
    let found = try searcher.credentials(matching: query, where: pattern.matches)
    let folded = pattern.server.foldingASCIICase
    guard found.isEmpty, !folded.hasSameBytes(as: pattern.server) else { return found }
    query.server = folded
    return try searcher.credentials(matching: query, where: pattern.matches)
  }
}

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
  /// The URL of an internet password, without its account; a server that is a URL stays as it is.
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
    return try plain.base64Encoded(after: "")
  }
}

extension KeychainError {
  static func noMatch(_ reference: CredentialReference) -> Self {
    let name = CredentialReference(reference.subject, accessGroup: reference.accessGroup)
    return Self(.notFound, "no internet password matches '\(name)'")
  }

  static func noField(_ field: CredentialReference.Field, of identity: CredentialIdentity) -> Self {
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
