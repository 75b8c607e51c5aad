internal import Dispatch
public import FoundationEssentials
internal import Glibc
public import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
public import PreferencesCore
internal import PrephirencesSystem
internal import Synchronization

// Changes values that other tasks and programs may change at the same time.
extension KeychainPreferences {
  /// Changes a value, and loses no change that others make at the same time.
  ///
  /// ```swift
  /// try keychain.update(Int.self, for: "logins") { count in count = (count ?? 0) + 1 }
  /// ```
  ///
  /// The value is read, changed, and written if it is still the same; otherwise, all steps are
  /// repeated. Label, comment, attributes and accessibility stay. If the closure does not change
  /// the value, nothing is written.
  ///
  /// - Parameters:
  ///   - expires: The change of the expiry; by default, it stays.
  ///   - deadline: How long to retry while others keep changing the value.
  ///   - change: Changes the value, whether or not it has expired; `nil` means no value, both
  ///     before and after. It may be called several times. If it throws, the update ends.
  /// - Returns: The new value.
  /// - Throws: What `change` throws; ``KeychainError``, such as ``KeychainError/Code/locked``, with
  ///   ``KeychainError/Code/undecodable`` if the stored value has another type, or with
  ///   ``KeychainError/Code/timedOut`` if others kept changing the value until the deadline. Then
  ///   nothing was written.
  @discardableResult
  public func update<Value: Codable>(
    _ type: Value.Type, for key: String, expires: FieldChange<Date> = .keep,
    deadline: Duration = .seconds(10), _ change: (inout Value?) throws -> Void
  ) throws -> Value? {
    let identity = identity(for: key)
    let start = ContinuousClock.now
    while true {
      let old = try store.item(identity)
      var value = try old?.value.value(as: type)
      try change(&value)
      let new = try replacement(value, for: old, identity, expires)
      guard try !new.isWritten(to: store) else { return value }
      guard .now - start < deadline else {
        throw KeychainError.changedTooOften(identity, for: deadline)
      }
      usleep(.random(in: 500...10_000))
    }
  }

  private func replacement<Value: Codable>(
    _ value: Value?, for old: StoredItem?, _ identity: CredentialIdentity,
    _ expires: FieldChange<Date>
  ) throws(KeychainError) -> Replacement {
    let stored = try value.map(TypedSecret.init(encoding:))
    let update = CredentialUpdate(
      contentType: FieldChange(to: stored?.contentType), expires: expires)
    let credential = old?.credential ?? Credential(identity, accessibility: accessibility)
    return Replacement(old: old, credential: update.applied(to: credential), value: stored)
  }
}

private struct Replacement: Sendable {
  let old: StoredItem?
  let credential: Credential
  let value: TypedSecret?

  /// Writes the value; `false` if the stored value was changed in the meantime.
  func isWritten(to store: any CredentialStore) throws(KeychainError) -> Bool {
    do throws(KeychainError) {
      if changesSomething { try store.replace(old, credential, by: value) }
      return true
    } catch let error where error.isConflict {
      return false
    }
  }

  private var changesSomething: Bool {
    guard let old, let value else { return old != nil || value != nil }
    return !old.value.isSame(as: value) || old.credential.expires != credential.expires
  }
}

// Several changes in one step, if the store can.
extension KeychainPreferences {
  /// Stores several values by their keys; `nil` removes a key.
  ///
  /// The vault stores them in one step: all or none, also after a crash, with only one wait for the
  /// disk. The desktop keyring and other stores cannot do that: they store the values one by one,
  /// in the order of the keys, and after a failure those before it are stored.
  ///
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``, or
  ///   ``KeychainError/Code/invalidArgument`` if a value cannot be stored. Then nothing was stored.
  public func set(_ values: [String: Any?]) throws(KeychainError) {
    try store(Self.encoded(values))
  }

  private typealias Encoded = [(key: String, value: TypedSecret?)]

  private static func encoded(_ values: [String: Any?]) throws(KeychainError) -> Encoded {
    var encoded: Encoded = []
    for key in values.keys.sorted() {
      if let value = unwrapped(values[key] ?? nil) {
        encoded.append((key, try TypedSecret(encoding: value)))
      } else {
        encoded.append((key, nil))
      }
    }
    return encoded
  }

  private func store(_ values: Encoded) throws(KeychainError) {
    // Values that are always refused, or change nothing, must not create a vault.
    var addsValue = false
    for case (let key, let value?) in values {
      addsValue = true
      try update(value.contentType).applied(to: Credential(identity(for: key)))
        .checkRules(secretCount: value.secret.bytes.count)
    }
    guard addsValue else { return try removeValues(for: present(values.map(\.key))) }
    try change(values.map(\.key), adding: accessibility) { index, transaction in
      let identity = identity(for: values[index].key)
      guard let value = values[index].value else {
        try transaction.remove(identity)
        return
      }
      try transaction.merge(update(value.contentType), secret: value.secret.bytes, into: identity)
    } alone: { index in
      let identity = identity(for: values[index].key)
      guard let value = values[index].value else {
        try store.remove(identity)
        return
      }
      try store.merge(update(value.contentType), secret: value.secret.bytes, into: identity)
    }
  }

  private func present(_ keys: [String]) throws(KeychainError) -> [String] {
    var present: [String] = []
    for key in keys where try contains(key) { present.append(key) }
    return present
  }

  /// Removes keys that exist, in one step if the store can.
  func removeValues(for keys: [String]) throws(KeychainError) {
    try change(keys, adding: nil) { index, transaction in
      try transaction.remove(identity(for: keys[index]))
    } alone: { index in
      try removeValue(for: keys[index])
    }
  }

  private func change(
    _ keys: [String], adding accessibility: Accessibility?,
    _ change: (Int, inout VaultTransaction) throws -> Void, alone: (Int) throws -> Void
  ) throws(KeychainError) {
    let requirement = accessibility?.unlockRequirement ?? .nothing
    func together(_ transaction: inout VaultTransaction) throws {
      for index in keys.indices { try change(index, &transaction) }
    }
    do {
      if keys.count > 1 {
        let scope = TransactionScope(
          serviceOf: identity(for: keys[0]), adding: accessibility, unlocking: requirement)
        let done: Void? = try store.inOneStep(scope, together)
        if done != nil { return }
      }
      for index in keys.indices { try alone(index) }
    } catch { throw keychainError(error) }
  }

  /// Calls a closure with the key of each value that anybody changes, until the returned
  /// observation is destroyed.
  ///
  /// With a vault, changes by other programs are reported too, without polling. The access group is
  /// the one that is set when the observation begins.
  ///
  /// - Parameter observer: Called on an arbitrary thread, after the change is durable, with the
  ///   key; or with `nil` if a locked credential was changed, which may or may not be one of these
  ///   preferences. It must not wait for the store.
  public func observe(_ observer: @escaping @Sendable (String?) -> Void) -> CredentialObservation {
    let (kind, accessGroup) = (kind, accessGroup ?? "")
    return store.observe { change in
      guard let identity = change.identity else { return observer(nil) }
      let key = identity.account
      guard identity == CredentialIdentity(kind.with(account: key), accessGroup: accessGroup)
      else { return }
      observer(key)
    }
  }

  /// Returns the keys of the values that change from now on, as a sequence; see ``observe(_:)``.
  ///
  /// The observation ends with the iteration.
  public func changes() -> AsyncStream<String?> {
    AsyncStream { continuation in
      let observation = observe { continuation.yield($0) }
      continuation.onTermination = { _ in observation.cancel() }
    }
  }

  /// Notifies an observer of preferences of everybody's changes, until the returned observation is
  /// destroyed.
  ///
  /// `observe(forKey:initial:_:)`, `changes(forKey:)` and the other methods of preferences call
  /// this. A value is read after its change, and reported on another thread, so a handler may use
  /// the keychain. If a value changes several times quickly, the newest one is reported. Old values
  /// are not reported, because no secret is kept for comparison. Values that cannot be read are not
  /// reported here; ``observe(_:)`` reports all changes, but only their keys.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    let reader = ChangeReader(of: self, for: observer)
    let observation = observe { [weak reader] key in if let key { reader?.look(at: key) } }
    reader.begin()
    return PreferenceObservation {
      reader.end()
      observation.cancel()
    }
  }
}

/// Reads changed values, and reports them one after the other.
private final class ChangeReader: Sendable {
  private let keychain: KeychainPreferences
  private let observer: PreferenceObserver
  private let keys: Set<[UInt8]>?
  private let hasEnded = Atomic(false)
  private let queue = DispatchQueue(label: "keychain-preferences-observer")

  init(of keychain: KeychainPreferences, for observer: PreferenceObserver) {
    // The observation keeps the current access group.
    self.keychain = KeychainPreferences(copying: keychain)
    self.observer = observer
    keys = observer.keys.map { Set($0.map { Array($0.utf8) }) }
  }

  func begin() {
    guard observer.wantsInitialValues else { return }
    queue.sync {
      for key in observer.keys?.sorted() ?? keychain.keys() {
        report(key) { PreferenceChange(initial: key, value: $0) }
      }
    }
  }

  func look(at key: PreferenceKey) {
    if let keys, !keys.contains(Array(key.utf8)) { return }
    queue.async { self.report(key) { PreferenceChange(key, to: $0) } }
  }

  func end() { hasEnded.store(true, ordering: .sequentiallyConsistent) }

  private func report(_ key: PreferenceKey, as change: (PreferenceObject?) -> PreferenceChange) {
    guard !hasEnded.load(ordering: .sequentiallyConsistent) else { return }
    do {
      observer.notify(change(try keychain.value(for: key)))
    } catch {
      // An observer cannot receive errors, and `nil` would mean absent, so the change is skipped.
    }
  }
}
