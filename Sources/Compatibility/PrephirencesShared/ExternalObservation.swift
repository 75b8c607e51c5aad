internal import Prephirences
internal import PrephirencesSystem

/// Posts the changes of other machines as notifications of a store, while that exists.
final class ExternalObservation: Sendable {
  private let observation = PosixMutex<PreferenceObservation?>(nil)

  func begin(of store: NSUbiquitousKeyValueStore) {
    let new = store.preferences.observeExternalChanges { [weak store] change in
      store?.postChange(change.reason, change.keys)
    }
    observation.withLock { $0 = new }
  }
}
