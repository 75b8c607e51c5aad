/// An observer of a store, and the changes that it has not received yet.
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
