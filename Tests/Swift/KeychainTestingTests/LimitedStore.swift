import KeychainCredentials
import KeychainSecrets
import Synchronization

/// An in-memory store that breaks rules, or offers less than other stores.
struct LimitedStore: CredentialStore {
  /// A fault or missing feature of a store.
  enum Limit: CaseIterable {
    case dropsLastByte, ignoresVersions, replacesOnAddOnly, dropsLabel, alwaysReportsRemoval
    case acceptsEverything, forgetsOnReopening
  }

  let base: InMemoryCredentialStore
  var limit: Limit?
  var largestSecret = Credential.maximumSecretCount
  var offersVersions = true
  var offersObservation = true
  var refused: [Accessibility] = []

  init(_ limit: Limit? = nil, base: InMemoryCredentialStore = InMemoryCredentialStore()) {
    self.limit = limit
    self.base = base
  }

  func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    guard let stored = try base.secret(for: identity) else { return nil }
    let credential = shown(stored.credential)
    guard limit == .dropsLastByte else {
      return StoredSecret(credential: credential, secret: stored.takeSecret())
    }
    let text = stored.secret.withBytes { bytes in
      String(
        decoding: (0..<bytes.byteCount).map {
          bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
        }, as: UTF8.self)
    }
    let secret = try SecretBytes(copying: String(text.dropLast()))
    return StoredSecret(credential: credential, secret: secret)
  }

  func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    try base.credential(for: identity).map(shown)
  }

  func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    CredentialSearchResult(credentials: try base.search(query).credentials.map(shown))
  }

  func set(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    try check(credential.accessibility)
    if secret.count > largestSecret { throw KeychainError(.tooLarge, "too large") }
    var mode = mode
    switch mode {
    case .replace where limit == .ignoresVersions: mode = .addOrReplace
    case .addOnly where limit == .replacesOnAddOnly: mode = .addOrReplace
    case .replace where !offersVersions: throw Self.noVersions
    default: break
    }
    var credential = credential
    if limit == .dropsLabel { credential.label = nil }
    return try shown(base.set(credential, secret: secret, mode: mode))
  }

  func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    if let accessibility = update.accessibility { try check(accessibility) }
    return try shown(
      base.update(identity, with: update, expectedVersion: condition(expectedVersion)))
  }

  func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try shown(base.rename(identity, to: newIdentity, expectedVersion: condition(expectedVersion)))
  }

  func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool {
    let wasThere = try base.remove(identity, expectedVersion: condition(expectedVersion))
    return wasThere || limit == .alwaysReportsRemoval
  }

  func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation {
    offersObservation ? base.observe(observer) : CredentialObservation {}
  }

  private static var noVersions: KeychainError { KeychainError(.refused, "no versions") }

  private func check(_ accessibility: Accessibility) throws(KeychainError) {
    guard limit != .acceptsEverything, refused.contains(accessibility) else { return }
    throw KeychainError(.refused, "not offered")
  }

  private func condition(_ version: UInt64?) throws(KeychainError) -> UInt64? {
    if limit == .ignoresVersions { return nil }
    if version != nil, !offersVersions { throw Self.noVersions }
    return version
  }

  private func shown(_ credential: Credential) -> Credential {
    guard !offersVersions else { return credential }
    return Credential(
      credential, version: 0, created: credential.created, modified: credential.modified)
  }
}
