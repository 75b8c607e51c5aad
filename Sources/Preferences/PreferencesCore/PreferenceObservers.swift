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

  /// The observers that want to know that something has changed, but not what; notified with the
  /// changes.
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

  /// Whether there are no observers: then a store need not find out what it changes.
  public var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

  /// Starts an observation, and reports the initial values if the observer wants them.
  ///
  /// - Parameter preferences: The store, which is retained only during this call.
  /// - Returns: The observation, which ends when it is destroyed.
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
  /// It calls no observer, so a store may hold its lock. Call ``deliverPending()`` after the lock
  /// is released. Changes with equal values are dropped on delivery.
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

  /// Reports a change that was just made; the caller must not hold a lock.
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

/// An observer of a store, with the changes that it has not received yet.
final class ObserverMailbox: Sendable {
  let observer: PreferenceObserver
  private let queue = SerialQueue(PendingChanges(), isBusy: true)

  /// Creates a mailbox that holds changes back until ``begin(_:)``.
  init(_ observer: PreferenceObserver) {
    self.observer = observer
  }

  /// Reports the initial values, and then the changes made meanwhile.
  func begin(_ preferences: some PreferencesType) {
    observer.notifyInitialValues(of: preferences)
    queue.runRest(observer.notify)
  }

  func post(_ change: PreferenceChange) { queue.add { $0.add(change) } }

  func deliver() { queue.run(observer.notify) }

  func end() { queue.end() }
}

extension ObserverMailbox: Hashable {
  static func == (one: ObserverMailbox, other: ObserverMailbox) -> Bool { one === other }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Changes that wait for delivery, in the order in which their keys were first changed.
///
/// The changes of one key are merged, so there are never more changes than keys. Keys are compared
/// by their bytes, because in some stores canonically equivalent keys have separate values.
struct PendingChanges: PendingWork {
  private var keys: [PreferenceKey] = []
  private var told = 0
  private var changes: [[UInt8]: PreferenceChange] = [:]

  mutating func add(_ change: PreferenceChange) {
    let bytes = Array(change.key.utf8)
    if let earlier = changes[bytes] {
      changes[bytes] = earlier.followed(by: change)
    } else {
      changes[bytes] = change
      keys.append(change.key)
    }
  }

  mutating func popFirst() -> PreferenceChange? {
    guard told < keys.count else { return nil }
    let change = changes.removeValue(forKey: Array(keys[told].utf8))
    told += 1
    if told == keys.count {
      keys.removeAll(keepingCapacity: true)
      told = 0
    }
    return change
  }
}

/// Reports that something has changed, without saying what, so a store need not find out which
/// values were replaced.
package final class ChangeSignals: Sendable {
  private struct State {
    var handlers: [Int: @Sendable () -> Void] = [:]
    var lastNumber = 0
  }

  private let state = PosixMutex(State())
  private let count = Atomic(0)
  private let isPosted = Atomic(false)

  /// Whether there are no observers.
  package var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

  /// Calls a closure after changes; several that are posted before the delivery count as one.
  package func add(_ handler: @escaping @Sendable () -> Void) -> PreferenceObservation {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.handlers[state.lastNumber] = handler
      return state.lastNumber
    }
    count.add(1, ordering: .sequentiallyConsistent)
    return PreferenceObservation { [weak self] in
      guard let self else { return }
      count.subtract(1, ordering: .sequentiallyConsistent)
      _ = state.withLock { $0.handlers.removeValue(forKey: number) }
    }
  }

  /// Records a change; the caller may hold a lock.
  package func post() {
    if !isEmpty { isPosted.store(true, ordering: .sequentiallyConsistent) }
  }

  /// Delivers a recorded change; the caller must not hold a lock.
  func deliver() {
    guard !isEmpty, isPosted.exchange(false, ordering: .sequentiallyConsistent) else { return }
    for handler in state.withLock({ Array($0.handlers.values) }) { handler() }
  }
}

/// The observers of objects without ``PreferenceObservers``.
///
/// An object has an entry only while it is observed.
package final class ObjectObservers: Sendable {
  package static let shared = ObjectObservers()

  private struct Entry {
    weak var object: AnyObject?
    let observers: PreferenceObservers
    var observationCount = 0
  }

  // Unchecked because objects are only compared here, by identity.
  private struct Entries: @unchecked Sendable {
    var all: [ObjectIdentifier: Entry] = [:]
  }

  private let entries = PosixMutex(Entries())
  private let count = Atomic(0)

  /// Returns the observers of an object, or `nil`.
  package func observers(of object: AnyObject) -> PreferenceObservers? {
    guard count.load(ordering: .sequentiallyConsistent) > 0 else { return nil }
    return entries.withLock { [identity = ObjectIdentifier(object)] entries in
      guard let entry = entries.all[identity], entry.object != nil else { return nil }
      return entry.observers
    }
  }

  package func add(
    _ observer: PreferenceObserver, of preferences: some PreferencesType, object: AnyObject
  ) -> PreferenceObservation {
    let identity = ObjectIdentifier(object)
    let observers = begin(identity, object)
    let observation = observers.add(observer, of: preferences)
    return PreferenceObservation { [self] in
      observation.cancel()
      end(identity, observers)
    }
  }

  private func begin(_ identity: ObjectIdentifier, _ object: AnyObject) -> PreferenceObservers {
    count.add(1, ordering: .sequentiallyConsistent)
    let fresh = PreferenceObservers()
    return entries.withLock { entries in
      // Another object may have had this address before.
      if let entry = entries.all[identity], entry.object != nil {
        entries.all[identity]?.observationCount += 1
        return entry.observers
      }
      entries.all[identity] = Entry(object: object, observers: fresh, observationCount: 1)
      return fresh
    }
  }

  private func end(_ identity: ObjectIdentifier, _ observers: PreferenceObservers) {
    count.subtract(1, ordering: .sequentiallyConsistent)
    entries.withLock { entries in
      guard entries.all[identity]?.observers === observers else { return }
      entries.all[identity]?.observationCount -= 1
      if entries.all[identity]?.observationCount == 0 { entries.all[identity] = nil }
    }
  }
}
