internal import Synchronization

/// The observers of a store; for authors of stores.
///
/// A store has one as a constant, hands observers to it, and posts its changes while it holds its
/// own lock, so that they are told in their order. They are told after the lock was released:
///
/// ```swift
/// func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
///   observers.add(observer, of: self)
/// }
///
/// func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
///   let posted = values.withLock { values in
///     let old = values.updateValue(value, forKey: key)
///     return observers.post([PreferenceChange(key, from: old, to: value)])
///   }
///   posted.tell()
/// }
/// ```
///
/// Where there is no lock, ``tell(_:)`` does both. When this object is destroyed, with the store
/// that has it, observations end.
public final class PreferenceObservers: Sendable {
  private struct State {
    var ofAllKeys: [ObserverMailbox] = []
    var byKey: [PreferenceKey: [ObserverMailbox]] = [:]
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

  /// Notes changes that have just been made, for those who observe their keys now.
  ///
  /// It takes no time worth speaking of and calls nobody, so a store may hold its lock.
  ///
  /// - Parameter changes: The changes; what is no change is left out when they are told.
  /// - Returns: What is to be told once the lock was released.
  public func post(_ changes: [PreferenceChange]) -> PostedPreferenceChanges {
    guard !isEmpty else { return PostedPreferenceChanges(mailboxes: []) }
    let mailboxes = state.withLock { state in
      changes.flatMap { change in
        let mailboxes = state.ofAllKeys + (state.byKey[change.key] ?? [])
        for mailbox in mailboxes { mailbox.post(change) }
        return mailboxes
      }
    }
    return PostedPreferenceChanges(mailboxes: mailboxes)
  }

  /// Tells a change that has just been made; the caller holds no lock.
  ///
  /// - Parameter change: The change.
  public func tell(_ change: PreferenceChange) { post([change]).tell() }

  private func remove(_ mailbox: ObserverMailbox) {
    state.withLock { state in
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

/// Changes that were noted while a store held its lock, and are to be told afterwards.
public struct PostedPreferenceChanges: Sendable {
  let mailboxes: [ObserverMailbox]

  /// Tells the changes to the observers, in order.
  ///
  /// Where another thread is just telling an observer, that thread tells these changes, too.
  public func tell() {
    for mailbox in mailboxes { mailbox.deliver() }
  }
}
