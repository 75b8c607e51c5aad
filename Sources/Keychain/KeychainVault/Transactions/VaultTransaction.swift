internal import Glibc
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem

/// Several reads and changes of a vault in one step; see ``Vault/withTransaction(unlocking:_:)``.
///
/// Its calls see what the transaction has changed so far. Nobody else does before it ends.
///
/// A call that fails with ``KeychainError/Code/notFound``, ``KeychainError/Code/alreadyExists``,
/// ``KeychainError/Code/versionConflict`` or ``KeychainError/Code/invalidArgument`` has changed
/// nothing, and the transaction can continue. After any other failure of a change it is undone,
/// even if the closure catches the error.
public struct VaultTransaction: ~Copyable {
  var writer: VaultWriter
  private(set) var log = TransactionLog()
  private let isAllowed: (CredentialIdentity) -> Bool

  init(_ writer: consuming VaultWriter, among isAllowed: @escaping (CredentialIdentity) -> Bool) {
    self.writer = writer
    self.isAllowed = isAllowed
  }

  /// Stores a credential, and returns it as it will be stored; see
  /// ``CredentialStore/set(_:secret:mode:)``.
  ///
  /// - Throws: ``KeychainError`` as that method.
  @discardableResult
  public mutating func set(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode = .addOrReplace
  ) throws(KeychainError) -> Credential {
    try requireAllowed(credential.identity)
    let request = try StoreRequest(credential, secretCount: secret.count, mode: mode)
    return try set(request, secret: secret).credential
  }

  mutating func set(
    _ request: StoreRequest, secret: borrowing SecretBytes
  ) throws(KeychainError) -> MergedCredential {
    try change(request.identity) { writer throws(KeychainError) in
      try writer.set(request, secret: secret)
    }
  }

  /// Stores a secret, and keeps the attributes of its credential unless the update changes them;
  /// see ``CredentialStore/merge(_:secret:into:mode:)``.
  ///
  /// - Throws: ``KeychainError`` as that method.
  @discardableResult
  public mutating func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode = .addOrReplace
  ) throws(KeychainError) -> MergedCredential {
    try requireAllowed(identity)
    let request = try StoreRequest(
      update, into: identity, secretCount: secret.count, mode: mode)
    return try set(request, secret: secret)
  }

  /// Changes a credential without its secret; see
  /// ``CredentialStore/update(_:with:expectedVersion:)``.
  ///
  /// - Throws: ``KeychainError`` as that method.
  @discardableResult
  public mutating func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64? = nil
  ) throws(KeychainError) -> Credential {
    try requireAllowed(identity)
    return try change(identity) { writer throws(KeychainError) in
      try writer.update(identity, with: update, expectedVersion: expectedVersion)
    }.credential
  }

  /// Renames a credential; see ``CredentialStore/rename(_:to:expectedVersion:)``.
  ///
  /// - Throws: ``KeychainError`` as that method.
  @discardableResult
  public mutating func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity,
    expectedVersion: UInt64? = nil
  ) throws(KeychainError) -> Credential {
    try requireAllowed(identity)
    try requireAllowed(newIdentity)
    if identity == newIdentity {
      guard let credential = try credential(for: identity) else { throw .notFound(identity) }
      try credential.checkVersion(expectedVersion)
      return credential
    }
    let renamed = try step { writer throws(KeychainError) in
      try writer.rename(identity, to: newIdentity, expectedVersion: expectedVersion)
    }
    log.note(CredentialChange(identity, .removed), renamed.accessibility)
    log.note(CredentialChange(newIdentity, .added), renamed.accessibility)
    return renamed
  }

  /// Removes a credential; see ``CredentialStore/remove(_:expectedVersion:)``.
  ///
  /// - Throws: ``KeychainError`` as that method.
  @discardableResult
  public mutating func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64? = nil
  ) throws(KeychainError) -> Bool {
    try requireAllowed(identity)
    let removed = try step { writer throws(KeychainError) in
      try writer.remove(identity, expectedVersion: expectedVersion)
    }
    guard let removed else { return false }
    log.note(CredentialChange(identity, .removed), removed.accessibility)
    return true
  }

  /// Returns a secret as it is within the transaction; see ``CredentialStore/secret(for:)``.
  ///
  /// - Throws: ``KeychainError`` as that method.
  public mutating func secret(
    for identity: CredentialIdentity
  ) throws(KeychainError) -> StoredSecret? {
    guard let item = try item(identity) else { return nil }
    return StoredSecret(
      credential: try writer.sealing.credential(of: item, name: "\(identity)"),
      secret: try writer.sealing.secret(of: item, in: writer.contents, name: "\(identity)"))
  }

  /// Returns a credential as it is within the transaction; see
  /// ``CredentialStore/credential(for:)``.
  ///
  /// - Throws: ``KeychainError`` as that method.
  public mutating func credential(
    for identity: CredentialIdentity
  ) throws(KeychainError) -> Credential? {
    guard let item = try item(identity) else { return nil }
    return try writer.sealing.credential(of: item, name: "\(identity)")
  }

  /// Returns the credentials that match a query within the transaction; see
  /// ``CredentialStore/search(_:)``.
  ///
  /// Locked items are not an error; the result reports them. To unlock items first, name the
  /// requirement when the transaction begins.
  ///
  /// - Throws: ``KeychainError`` as that method.
  public mutating func search(
    _ query: CredentialQuery
  ) throws(KeychainError) -> CredentialSearchResult {
    try requireWhole()
    return try writer.contents.search(query, writer.sealing)
  }

  private mutating func item(_ identity: CredentialIdentity) throws(KeychainError) -> VaultItem? {
    try requireWhole()
    try requireAllowed(identity)
    return try result(of: writer.openableItem(of: identity))
  }

  private mutating func change(
    _ identity: CredentialIdentity,
    _ body: (inout VaultWriter) throws(KeychainError) -> VaultSession.Attempt<MergedCredential>
  ) throws(KeychainError) -> MergedCredential {
    let merged = try step(body)
    let kind: CredentialChange.Kind = merged.replaced == nil ? .added : .updated
    log.note(CredentialChange(identity, kind), merged.credential.accessibility)
    return merged
  }

  /// Makes a change; if it fails half way, the transaction can only be undone.
  private mutating func step<Result>(
    _ body: (inout VaultWriter) throws(KeychainError) -> VaultSession.Attempt<Result>
  ) throws(KeychainError) -> Result {
    try requireWhole()
    let attempt: VaultSession.Attempt<Result>
    do throws(KeychainError) { attempt = try body(&writer) } catch {
      switch error.code {
      case .notFound, .alreadyExists, .versionConflict, .invalidArgument: break
      default: log.failure = error
      }
      throw error
    }
    return try result(of: attempt)
  }

  /// Returns the result; a need ends this run of the closure, which only an error can do.
  private mutating func result<Result>(
    of attempt: VaultSession.Attempt<Result>
  ) throws(KeychainError) -> Result {
    switch attempt {
    case .done(let result): return result
    case .needs(let need):
      log.need = need
      throw .closureEnds
    }
  }

  private func requireWhole() throws(KeychainError) {
    if let failure = log.failure { throw failure }
    if log.need != nil { throw .closureEnds }
  }

  private func requireAllowed(_ identity: CredentialIdentity) throws(KeychainError) {
    guard isAllowed(identity) else {
      throw KeychainError(
        .refused, "\(identity) may be in another store than this transaction",
        recovery: "change it after the transaction")
    }
  }
}

extension KeychainError {
  /// The error for a closure that will run again.
  fileprivate static let closureEnds = Self(
    .locked, "the transaction begins again, once the keys that it needs are at hand")
}

/// The state of one attempt of a transaction.
struct TransactionLog {
  private(set) var changes: [CredentialChange] = []

  /// Whether items that need the strictest unlock state were changed.
  private(set) var usesUnlockedItems = false

  /// The need to meet before the closure runs again, whatever the result of this run is.
  fileprivate(set) var need: VaultSession.Requirement?

  /// Why the transaction can only be undone.
  fileprivate(set) var failure: KeychainError?
  var thrown: (any Error)?

  fileprivate mutating func note(_ change: CredentialChange, _ accessibility: Accessibility) {
    changes.append(change)
    if accessibility.unlockRequirement == .unlockedNow { usesUnlockedItems = true }
  }
}

/// A running closure of a transaction; on its thread, a write by another handle of the same vault
/// would wait forever.
struct RunningTransaction: Hashable {
  private let path: String
  private let thread = UInt(pthread_self())
  private static let all = PosixMutex<Set<Self>>([])

  static func running<Result>(_ path: String, _ body: () throws -> Result) rethrows -> Result {
    let running = Self(path: path)
    all.withLock { _ = $0.insert(running) }
    defer { all.withLock { _ = $0.remove(running) } }
    return try body()
  }

  /// Whether a closure of a transaction of this vault runs on this thread.
  static func isHere(_ path: String) -> Bool { all.withLock { $0.contains(Self(path: path)) } }
}
