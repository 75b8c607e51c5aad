internal import PrephirencesSystem
internal import Synchronization

/// The observers of a store; for authors of stores.
///
/// A store has one as a constant, passes observers to it, and posts its changes while it holds its
/// own lock, which keeps them in order. The changes are delivered after the lock is released:
///
/// ```swift
/// func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
///   observers.add(observer, of: self)
/// }
///
/// func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
///   values.withLock { values in
///     observers.post([PreferenceChange(key, from: values[key], to: value)])
///     values[key] = value
///   }
///   observers.deliverPending()
/// }
/// ```
///
/// A store without a lock calls ``notify(_:)``, which does both. When this object is destroyed
/// together with its store, the observations end.
public final class PreferenceObservers: Sendable {
  private struct State {
    var ofAllKeys: [ObserverMailbox] = []
    var byKey: [PreferenceKey: [ObserverMailbox]] = [:]
    /// The observers with posted changes.
    var posted: [ObserverMailbox] = []
  }

  /// Those who want to know that something has changed, but not what; delivered with the changes.
  package let signals = ChangeSignals()

  private let state = PosixMutex(State())
  private let count = Atomic(0)

  /// Creates an object without observers.
  public init() {}

  deinit {
    state.withLock { state in
      for mailbox in state.ofAllKeys { mailbox.observer.notifyEnd() }
      for mailbox in Set(state.byKey.values.joined()) { mailbox.observer.notifyEnd() }
    }
  }

  /// Whether there are no observers; a store then need not find out what it changes.
  public var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

  /// Starts an observation, and reports the initial values if the observer wants them.
  ///
  /// - Parameters:
  ///   - observer: The observer.
  ///   - preferences: The store, which is retained only during this call.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func add(
    _ observer: PreferenceObserver, of preferences: some PreferencesType
  ) -> PreferenceObservation {
    let mailbox = ObserverMailbox(observer)
    count.add(1, ordering: .sequentiallyConsistent)
    state.withLock { state in
      guard let keys = observer.keys else { return state.ofAllKeys.append(mailbox) }
      for key in keys { state.byKey[key, default: []].append(mailbox) }
    }
    mailbox.begin(preferences)
    return PreferenceObservation { [weak self] in
      mailbox.end()
      self?.remove(mailbox)
    }
  }

  /// Records changes for the present observers of their keys.
  ///
  /// It calls no observer, so a store may hold its lock. Call ``deliverPending()`` after the lock is
  /// released.
  ///
  /// - Parameter changes: The changes; those with equal values are dropped on delivery.
  public func post(_ changes: [PreferenceChange]) {
    guard !isEmpty else { return }
    state.withLock { state in
      for change in changes {
        for mailbox in state.ofAllKeys + (state.byKey[change.key] ?? []) {
          mailbox.post(change)
          state.posted.append(mailbox)
        }
      }
    }
  }

  /// Delivers the posted changes, in order for each observer.
  ///
  /// If another thread is notifying an observer, that thread also delivers these changes.
  public func deliverPending() {
    signals.deliver()
    guard !isEmpty else { return }
    let mailboxes = state.withLock { state in
      defer { state.posted = [] }
      return state.posted
    }
    for mailbox in mailboxes { mailbox.deliver() }
  }

  /// Reports a change that has just been made; the caller must not hold a lock.
  ///
  /// - Parameter change: The change.
  public func notify(_ change: PreferenceChange) {
    post([change])
    deliverPending()
  }

  private func remove(_ mailbox: ObserverMailbox) {
    state.withLock { state in
      state.posted.removeAll { $0 === mailbox }
      guard let keys = mailbox.observer.keys else {
        return state.ofAllKeys.removeAll { $0 === mailbox }
      }
      for key in keys {
        state.byKey[key]?.removeAll { $0 === mailbox }
        if state.byKey[key]?.isEmpty == true { state.byKey[key] = nil }
      }
    }
    count.subtract(1, ordering: .sequentiallyConsistent)
  }
}
