/// An observer of a store, and the changes that it is still to be told.
final class ObserverMailbox: Sendable {
  let observer: PreferenceObserver
  private let queue = SerialQueue(PendingChanges(), isBusy: true)

  /// Makes a mailbox whose changes wait until ``begin(_:)``.
  init(_ observer: PreferenceObserver) {
    self.observer = observer
  }

  /// Tells the initial values first, and then what was changed meanwhile.
  func begin(_ preferences: some PreferencesType) {
    observer.tellInitialValues(of: preferences)
    queue.runRest(observer.tell)
  }

  func post(_ change: PreferenceChange) { queue.add { $0.add(change) } }

  func deliver() { queue.run(observer.tell) }

  func end() { queue.end() }
}

extension ObserverMailbox: Hashable {
  static func == (one: ObserverMailbox, other: ObserverMailbox) -> Bool { one === other }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
