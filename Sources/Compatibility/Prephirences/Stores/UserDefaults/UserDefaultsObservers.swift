internal import Foundation
internal import PrephirencesSystem
internal import Synchronization

/// The observers of all `UserDefaults` of the process.
///
/// Several objects can have the same values, and outside Apple's systems Foundation posts
/// notifications for whole domains only. So each setter of the protocols names the keys to compare,
/// and each observation finds out whether its own object has a new value.
final class UserDefaultsObservers: Sendable {
  static let shared = UserDefaultsObservers()

  private let observations = PosixMutex<[ObjectIdentifier: ComparingObservation]>([:])
  private let count = Atomic(0)

  private init() {
    // Registered for the life of the process: it does nothing without observers.
    _ = NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: nil, queue: nil
    ) { [weak self] notification in
      if !(notification.object is BackedUserDefaults) { self?.look() }
    }
  }

  func add(
    _ observer: PreferenceObserver, of defaults: some PreferencesType
  ) -> PreferenceObservation {
    let observation = ComparingObservation(observer, of: defaults)
    let identity = ObjectIdentifier(observation)
    observations.withLock { $0[identity] = observation }
    count.add(1, ordering: .sequentiallyConsistent)
    observation.begin()
    return PreferenceObservation { [self] in
      observation.end()
      observations.withLock { _ = $0.removeValue(forKey: identity) }
      count.subtract(1, ordering: .sequentiallyConsistent)
    }
  }

  /// Reports the changes of some keys, or of all without a list; the caller must not hold a lock.
  func look(at keys: [PreferenceKey]? = nil) {
    guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
    for observation in observations.withLock({ Array($0.values) }) { observation.look(at: keys) }
  }
}
