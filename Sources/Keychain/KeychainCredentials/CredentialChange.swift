internal import PrephirencesSystem

/// A change of one credential.
///
/// Changes of other processes are found by comparison: several quick changes of a credential are
/// reported as one, and a renaming as a removal and an addition.
public struct CredentialChange: Hashable, Sendable {
  /// What happened to it.
  @nonexhaustive public enum Kind: Hashable, Sendable {
    /// It was added.
    case added

    /// Its secret or its attributes were changed.
    case updated

    /// It was removed.
    case removed
  }

  /// The credential; `nil` if another program changed a locked one, whose name cannot be read.
  public let identity: CredentialIdentity?

  /// What happened.
  public let kind: Kind

  /// Creates a change; for authors of stores; the identity is `nil` if the name cannot be read.
  public init(_ identity: CredentialIdentity?, _ kind: Kind) {
    self.identity = identity
    self.kind = kind
  }
}

/// An observation, which ends when this object is destroyed or cancelled.
public final class CredentialObservation: Sendable {
  private let end: @Sendable () -> Void

  /// Creates an observation; for authors of stores; `end` may be called more than once.
  public init(end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }

  /// Ends the observation.
  public func cancel() { end() }
}

/// The observers of a store.
package final class CredentialObservers: Sendable {
  /// A type without generic parameters, so that the runtime needs no conformances to destroy it.
  private struct Numbered {
    var next = 0
    var all: [Int: @Sendable (CredentialChange) -> Void] = [:]
  }

  private let observers = PosixMutex(Numbered())

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
    // Called outside the lock, so that an observer may start or end observations.
    for observer in observers.withLock({ Array($0.all.values) }) { observer(change) }
  }

  /// Notifies the observers of a renaming, unless the name is the same.
  package func notifyOfRenaming(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity
  ) {
    guard identity != newIdentity else { return }
    notify(CredentialChange(identity, .removed))
    notify(CredentialChange(newIdentity, .added))
  }
}

extension CredentialStore {
  /// Returns the changes of the store from now on, as a sequence.
  ///
  /// A slow reader still receives all changes, in order. The observation ends with the iteration.
  public func changes() -> AsyncStream<CredentialChange> {
    AsyncStream { continuation in
      let observation = observe { continuation.yield($0) }
      continuation.onTermination = { _ in observation.cancel() }
    }
  }
}
