internal import Dispatch
public import KeychainCredentials
public import PreferencesCore
internal import Synchronization

extension KeychainPreferences {
  /// Calls a closure with the key of each value that changes, whoever changes it.
  ///
  /// With a vault, changes by other programs are reported too, without polling. The access group is
  /// the one that is set when the observation begins.
  ///
  /// - Parameter observer: Called on an arbitrary thread, after the change is durable, with the
  ///   key; or with `nil` if a locked credential was changed, which may or may not be one of these
  ///   preferences. It must not wait for the store.
  /// - Returns: The observation, which ends when this object is destroyed.
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
  ///
  /// - Returns: The sequence.
  public func changes() -> AsyncStream<String?> {
    AsyncStream { continuation in
      let observation = observe { continuation.yield($0) }
      continuation.onTermination = { _ in observation.cancel() }
    }
  }
}

extension KeychainPreferences {
  /// Notifies an observer of preferences of changes, whoever makes them.
  ///
  /// `observe(forKey:initial:_:)`, `changes(forKey:)` and the other methods of preferences call
  /// this. A value is read after its change, and reported on another thread, so a handler may use
  /// the keychain. If a value changes several times quickly, the newest one is reported. Old values
  /// are not reported, because no secret is kept for comparison. Values that cannot be read are not
  /// reported here; ``observe(_:)`` reports all changes, but only their keys.
  ///
  /// - Parameter observer: The observer to notify.
  /// - Returns: The observation, which ends when this object is destroyed.
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
