internal import FoundationEssentials
public import KeychainSecrets
internal import PrephirencesSystem

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
  let state = PosixMutex(State())
  let observers = CredentialObservers()

  /// Creates an empty store.
  public init() {}

  /// Returns a secret; see the protocol.
  public func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    let found = try state.withLock { state throws(KeychainError) in
      try state.item(identity, for: .reading)
    }
    guard let item = found else { return nil }
    return StoredSecret(credential: item.credential, secret: try item.secret.copy())
  }

  /// Returns a credential; see the protocol.
  public func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    try state.withLock { state throws(KeychainError) in
      try state.item(identity, for: .reading)?.credential
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
    return CredentialSearchResult(credentials: found, lockedCount: matching.count - found.count)
  }

  /// Stores a credential; see the protocol.
  @discardableResult
  public func set(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    let request = try StoreRequest(credential, secretCount: secret.count, mode: mode)
    return try set(request, secret: secret).credential
  }

  package func set(
    _ request: StoreRequest, secret: borrowing SecretBytes
  ) throws(KeychainError) -> MergedCredential {
    let secret = try SharedSecret(copying: secret)
    let identity = request.identity
    return try change(identity, keepsDates: request.keepsDates) { old throws(KeychainError) in
      try request.mode.check(old?.credential, identity: identity)
      return (try request.credential(replacing: old?.credential), secret)
    }
  }

  /// Stores a secret, and keeps the attributes of its credential; see the protocol.
  @discardableResult
  public func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode
  ) throws(KeychainError) -> MergedCredential {
    // Read first, so that a test's error for reading comes first.
    if mode != .addOnly {
      try state.withLock { state throws(KeychainError) in try state.throwIfFailing(.reading) }
    }
    let request = try StoreRequest(
      update, into: identity, secretCount: secret.count, mode: mode)
    return try set(request, secret: secret)
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
      guard let old = try state.item(identity, for: .writing) else { throw .notFound(identity) }
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
      try state.item(identity, for: .writing)?.credential.checkVersion(expectedVersion)
      return state.items.removeValue(forKey: identity) != nil
    }
    if removed { observers.notify(CredentialChange(identity, .removed)) }
    return removed
  }

  /// Observes changes; see the protocol.
  public func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation { observers.add(observer) }

  /// Replaces an item by the result of `body`, in one step.
  private func change(
    _ identity: CredentialIdentity, keepsDates: Bool = false,
    _ body: (Item?) throws(KeychainError) -> (Credential, SharedSecret)
  ) throws(KeychainError) -> MergedCredential {
    let merged = try state.withLock { state throws(KeychainError) in
      let old = try state.item(identity, for: .writing)
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

extension InMemoryCredentialStore {
  final class Item: Sendable {
    let credential: Credential
    let secret: SharedSecret

    init(_ credential: Credential, _ secret: SharedSecret) {
      self.credential = credential
      self.secret = secret
    }
  }

  struct Failure {
    let error: KeychainError

    /// The number of calls that still fail; `nil` for all.
    let count: Int?

    /// The failure after one more call; `nil` if this was the last one.
    var next: Failure? {
      guard let count else { return self }
      return count > 1 ? Failure(error: error, count: count - 1) : nil
    }
  }

  struct State {
    var items: [CredentialIdentity: Item] = [:]
    var counter: UInt64 = 0

    /// The items that can be read now; more while the store is unlocked.
    var readable = Accessibility.UnlockRequirement.unlockedNow

    /// The errors that calls throw, by operation.
    var failures: [Operation: Failure] = [:]

    /// Throws if a credential needs the store to be unlocked, and it is locked.
    func checkReadable(_ credential: Credential) throws(KeychainError) {
      guard credential.accessibility.unlockRequirement <= readable else {
        throw KeychainError(
          .locked, "the store in memory is locked for \(credential.identity)",
          recovery: "unlock it")
      }
    }

    /// Throws the error that a test has set for an operation.
    mutating func throwIfFailing(_ operation: Operation) throws(KeychainError) {
      guard let failure = failures[operation] else { return }
      failures[operation] = failure.next
      throw failure.error
    }

    mutating func item(
      _ identity: CredentialIdentity, for operation: Operation
    ) throws(KeychainError) -> Item? {
      try throwIfFailing(operation)
      guard let item = items[identity] else { return nil }
      try checkReadable(item.credential)
      return item
    }
  }

  // Simulates events of other stores, for tests of programs that use a store.

  /// The kinds of calls.
  @frozen public enum Operation: CaseIterable, Hashable, Sendable {
    /// Reading a secret or a credential, and searching.
    case reading

    /// Storing, changing, renaming and removing.
    case writing
  }

  /// Whether the store is locked.
  public var isLocked: Bool { state.withLock { $0.readable < .unlockedNow } }

  /// Locks the store, like a vault: calls that need it unlocked throw
  /// ``KeychainError/Code/locked``, and a search counts its locked items.
  ///
  /// No credential is lost, and a missing one is still missing. Items of accessibility
  /// ``Accessibility/always`` can still be read and written. Observers are not called.
  ///
  /// - Parameter all: Whether to lock also items that are readable after the first unlock, as a
  ///   restart does.
  public func lock(all: Bool = false) {
    state.withLock { $0.readable = all ? .nothing : .unlockedSinceBoot }
  }

  /// Unlocks the store, which is its initial state.
  public func unlock() { state.withLock { $0.readable = .unlockedNow } }

  /// Removes all credentials of every service, even if the store is locked or made to fail, and
  /// notifies observers of each.
  public func removeAll() {
    let removed = state.withLock { state in
      defer { state.items = [:] }
      return state.items.values.map(\.credential)
    }
    for credential in CredentialSearchResult(credentials: removed).credentials {
      observers.notify(CredentialChange(credential.identity, .removed))
    }
  }

  /// Makes calls throw, until ``succeed()`` is called.
  ///
  /// A call that fails changes nothing, and observers are not notified. A setter of
  /// `KeychainPreferences` reads before it writes, so it fails with either operation.
  ///
  /// - Parameters:
  ///   - operation: The calls that fail; `nil` for all. It replaces an earlier failure of the same
  ///     calls.
  ///   - times: How many calls fail, for each operation; `nil` for all.
  public func fail(_ operation: Operation? = nil, with error: KeychainError, times: Int? = nil) {
    let failure = times == 0 ? nil : Failure(error: error, count: times)
    state.withLock { state in
      for operation in operation.map({ [$0] }) ?? Operation.allCases {
        state.failures[operation] = failure
      }
    }
  }

  /// Ends the failures that ``fail(_:with:times:)`` began.
  public func succeed() { state.withLock { $0.failures = [:] } }
}
