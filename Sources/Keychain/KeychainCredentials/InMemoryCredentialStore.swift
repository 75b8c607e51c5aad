internal import FoundationEssentials
public import KeychainSecrets
internal import Synchronization

/// A store in memory, for tests and for credentials of one run.
///
/// Secrets are kept in guarded memory. It offers every accessibility except
/// ``Accessibility/whenPasscodeSetThisDeviceOnly``, because it has no passphrase.
///
/// A test can lock, unlock and empty it with ``lock(all:)``, ``unlock()`` and ``removeAll()``, and
/// make its calls fail with ``fail(_:with:times:)``:
///
/// ```swift
/// let store = InMemoryCredentialStore()
/// let keychain = KeychainPreferences(service: "com.example.deploy", store: store)
/// store.lock()   // reading and writing throw .locked from now on, as with a locked vault
/// store.fail(.writing, with: KeychainError(.inputOutput, "the disk is full"), times: 1)
/// ```
public final class InMemoryCredentialStore: CredentialStore, BuiltInStore {
  let state = Mutex(State())
  let observers = CredentialObservers()

  /// Creates an empty store.
  public init() {}

  /// Returns a secret; see the protocol.
  public func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    let found = try state.withLock { state throws(KeychainError) in
      try state.readableItem(identity)
    }
    guard let item = found else { return nil }
    return StoredSecret(credential: item.credential, secret: try item.secret.copy())
  }

  /// Returns a credential; see the protocol.
  public func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    try state.withLock { state throws(KeychainError) in
      try state.readableItem(identity)?.credential
    }
  }

  /// Searches; see the protocol.
  public func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    let (credentials, readable) = try state.withLock { state throws(KeychainError) in
      try state.throwIfFailing(.reading)
      return (state.items.values.map(\.credential), state.readable)
    }
    let matching = credentials.filter(query.matches)
    let found = matching.filter { $0.accessibility.unlockRequirement <= readable }
    return CredentialSearchResult(
      credentials: found, lockedCount: matching.count - found.count)
  }

  /// Stores a credential; see the protocol.
  @discardableResult
  public func store(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    try store(credential, secret: secret, mode: mode, keepsDates: false)
  }

  /// Stores a credential with its dates; see the protocol.
  @discardableResult
  package func receive(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    try store(credential, secret: secret, mode: mode, keepsDates: true)
  }

  private func store(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode, keepsDates: Bool
  ) throws(KeychainError) -> Credential {
    try credential.checkRules(secretCount: secret.count)
    let secret = try SharedSecret(copying: secret)
    return try change(credential.identity, keepsDates: keepsDates) { old throws(KeychainError) in
      try mode.check(old?.credential, identity: credential.identity)
      return (credential, secret)
    }.credential
  }

  /// Stores a secret, and keeps the attributes of its credential; see the protocol.
  @discardableResult
  public func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode
  ) throws(KeychainError) -> MergedCredential {
    let shared = try SharedSecret(copying: secret)
    let count = secret.count
    // The credential is read first, so a failure of reading that a test has set comes first.
    if mode != .addOnly {
      try state.withLock { state throws(KeychainError) in try state.throwIfFailing(.reading) }
    }
    return try change(identity) { old throws(KeychainError) in
      try mode.check(old?.credential, identity: identity)
      let merged = update.applied(to: old?.credential ?? Credential(identity))
      try merged.checkRules(secretCount: count)
      return (merged, shared)
    }
  }

  /// Changes a credential; see the protocol.
  @discardableResult
  public func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try change(identity) { old throws(KeychainError) in
      guard let old else { throw .notFound(identity) }
      try old.credential.checkVersion(expectedVersion)
      let changed = update.applied(to: old.credential)
      try changed.checkRules(secretCount: nil)
      return (changed, old.secret)
    }.credential
  }

  /// Renames a credential; see the protocol.
  @discardableResult
  public func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    let renamed = try state.withLock { state throws(KeychainError) -> Credential in
      guard let old = try state.writableItem(identity) else { throw .notFound(identity) }
      try old.credential.checkVersion(expectedVersion)
      guard identity != newIdentity else { return old.credential }
      guard state.items[newIdentity] == nil else { throw .alreadyExists(newIdentity) }
      var credential = try old.credential.renamed(newIdentity)
      state.counter += 1
      credential.stamp(version: state.counter, created: old.credential.created)
      state.items[identity] = nil
      state.items[newIdentity] = Item(credential, old.secret)
      return credential
    }
    observers.notifyOfRenaming(identity, to: newIdentity)
    return renamed
  }

  /// Removes a credential; see the protocol.
  @discardableResult
  public func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool {
    let removed = try state.withLock { state throws(KeychainError) in
      try state.writableItem(identity)?.credential.checkVersion(expectedVersion)
      return state.items.removeValue(forKey: identity) != nil
    }
    if removed { observers.notify(CredentialChange(identity, .removed)) }
    return removed
  }

  /// Observes changes; see the protocol.
  public func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation {
    observers.add(observer)
  }

  /// Replaces an item by the result of `body`, in one step.
  private func change(
    _ identity: CredentialIdentity, keepsDates: Bool = false,
    _ body: (Item?) throws(KeychainError) -> (Credential, SharedSecret)
  ) throws(KeychainError) -> MergedCredential {
    let merged = try state.withLock { state throws(KeychainError) in
      let old = try state.writableItem(identity)
      var (credential, secret) = try body(old)
      guard credential.accessibility != .whenPasscodeSetThisDeviceOnly else {
        throw KeychainError(
          .refused, "a store in memory has no passphrase, which \(credential.accessibility) needs")
      }
      try state.checkReadable(credential)
      state.counter += 1
      credential.stamp(
        version: state.counter, created: old?.credential.created, keepsDates: keepsDates)
      state.items[identity] = Item(credential, secret)
      return MergedCredential(credential: credential, replaced: old?.credential)
    }
    observers.notify(CredentialChange(identity, merged.replaced == nil ? .added : .updated))
    return merged
  }
}
