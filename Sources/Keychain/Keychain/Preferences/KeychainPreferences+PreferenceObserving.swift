internal import Foundation
internal import KeychainCredentials
public import Prephirences
internal import Synchronization

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
    let observation = observe { [weak reader] key in
      if let key { reader?.look(at: key) }
    }
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
