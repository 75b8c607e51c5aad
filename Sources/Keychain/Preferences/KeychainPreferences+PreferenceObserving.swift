internal import Foundation
internal import KeychainCredentials
public import Prephirences
internal import Synchronization

extension KeychainPreferences {
  /// Begins to tell changes to an observer of preferences, whoever makes them.
  ///
  /// This is what `observe(forKey:initial:_:)`, `changes(forKey:)` and the other methods of
  /// preferences do. A value is read after its change, and told on a thread of its own, so a handler
  /// may use the keychain; of changes in quick succession the newest value is told. Old values are
  /// not: nothing keeps a secret to compare it. What cannot be read is not told here; ``observe(_:)``
  /// tells all changes, but only their keys.
  ///
  /// - Parameter observer: Who is to be told.
  /// - Returns: Keeps the observation alive.
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

/// Reads values that were changed, and tells them one after the other.
private final class ChangeReader: Sendable {
  private let keychain: KeychainPreferences
  private let observer: PreferenceObserver
  private let keys: Set<[UInt8]>?
  private let hasEnded = Atomic(false)
  private let queue = DispatchQueue(label: "keychain-preferences-observer")

  init(of keychain: KeychainPreferences, for observer: PreferenceObserver) {
    // Its access group stays the one of this moment.
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
      // A failure is no absence, and here is no place for another answer.
    }
  }
}
