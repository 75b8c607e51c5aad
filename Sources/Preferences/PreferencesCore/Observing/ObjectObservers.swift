internal import PrephirencesSystem
internal import Synchronization

/// The observers of objects without ``PreferenceObservers`` of their own.
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

  /// Returns the observers of an object; `nil` if there are none.
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
