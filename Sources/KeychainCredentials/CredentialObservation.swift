internal import Synchronization

/// A change of one credential.
///
/// Changes by other processes are found by comparing, so what happens to a credential between two looks
/// is one change; another name is a removal and an addition.
public struct CredentialChange: Hashable, Sendable {
  /// What happened to it.
  public enum Kind: Hashable, Sendable {
    /// It was added.
    case added

    /// Its secret or what is known about it was changed.
    case updated

    /// It was removed.
    case removed
  }

  /// The credential; `nil` if somebody else changed one that is locked, so that it cannot be named.
  public let identity: CredentialIdentity?

  /// What happened.
  public let kind: Kind

  /// Describes a change; for authors of stores.
  ///
  /// - Parameters:
  ///   - identity: The credential; `nil` if it cannot be named.
  ///   - kind: What happened.
  public init(_ identity: CredentialIdentity?, _ kind: Kind) {
    self.identity = identity
    self.kind = kind
  }
}

/// Keeps an observation alive: it ends when this object is destroyed or cancelled.
public final class CredentialObservation: Sendable {
  private let end: @Sendable () -> Void

  /// Makes an observation; for authors of stores.
  ///
  /// - Parameter end: Ends it; it may be called more than once.
  public init(end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  deinit { end() }

  /// Ends the observation.
  public func cancel() { end() }
}

/// The observers of a store.
package final class CredentialObservers: Sendable {
  private let observers = Mutex<(next: Int, all: [Int: @Sendable (CredentialChange) -> Void])>(
    (0, [:]))

  package init() {}

  package var isEmpty: Bool { observers.withLock { $0.all.isEmpty } }

  package func add(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation {
    let number = observers.withLock { observers in
      observers.next += 1
      observers.all[observers.next] = observer
      return observers.next
    }
    return CredentialObservation { [weak self] in
      self?.observers.withLock { _ = $0.all.removeValue(forKey: number) }
    }
  }

  package func notify(_ change: CredentialChange) {
    // Called outside the lock, so that an observer may add or end observations.
    for observer in observers.withLock({ Array($0.all.values) }) { observer(change) }
  }

  /// Tells of a new name; that a credential was renamed to itself is no change.
  package func notifyOfRenaming(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity
  ) {
    guard identity != newIdentity else { return }
    notify(CredentialChange(identity, .removed))
    notify(CredentialChange(newIdentity, .added))
  }
}

extension CredentialStore {
  /// The changes of the store from now on, as a sequence.
  ///
  /// A reader that is slower than the changes finds all of them, in order. The observation ends
  /// with the iteration.
  ///
  /// - Returns: The sequence.
  public func changes() -> AsyncStream<CredentialChange> {
    AsyncStream { continuation in
      let observation = observe { continuation.yield($0) }
      continuation.onTermination = { _ in observation.cancel() }
    }
  }
}
