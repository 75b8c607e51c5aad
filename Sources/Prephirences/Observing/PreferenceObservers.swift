internal import Synchronization

/// The observers of a store; for authors of stores.
///
/// A store has one as a constant, hands observers to it, and posts its changes while it holds its
/// own lock, so that they are told in their order. They are told once the lock is released:
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
///   observers.tellPosted()
/// }
/// ```
///
/// Where there is no lock, ``tell(_:)`` does both. When this object is destroyed, with the store
/// that has it, observations end.
public final class PreferenceObservers: Sendable {
  private struct State {
    var ofAllKeys: [ObserverMailbox] = []
    var byKey: [PreferenceKey: [ObserverMailbox]] = [:]
    /// Those to whom something was posted.
    var posted: [ObserverMailbox] = []
  }

  private let state = Mutex(State())
  private let count = Atomic(0)

  /// Makes an object without observers.
  public init() {}

  deinit {
    state.withLock { state in
      for mailbox in state.ofAllKeys { mailbox.observer.tellEnd() }
      for mailbox in Set(state.byKey.values.joined()) { mailbox.observer.tellEnd() }
    }
  }

  /// Whether nobody observes; then a store need not find out what it changes.
  public var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

  /// Begins an observation, and tells the initial values if they are wanted.
  ///
  /// - Parameters:
  ///   - observer: The observer.
  ///   - preferences: The store; it is kept no longer than this call takes.
  /// - Returns: Keeps the observation alive.
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

  /// Notes changes that are being made, for those who observe their keys now.
  ///
  /// It calls nobody, so a store may hold its lock. ``tellPosted()`` must follow without it.
  ///
  /// - Parameter changes: The changes; what is no change is left out when they are told.
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

  /// Tells what was posted, each observer its changes in their order.
  ///
  /// Where another thread is just telling an observer, that thread tells these changes, too.
  public func tellPosted() {
    guard !isEmpty else { return }
    let mailboxes = state.withLock { state in
      defer { state.posted = [] }
      return state.posted
    }
    for mailbox in mailboxes { mailbox.deliver() }
  }

  /// Tells a change that has just been made; the caller holds no lock.
  ///
  /// - Parameter change: The change.
  public func tell(_ change: PreferenceChange) {
    post([change])
    tellPosted()
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
