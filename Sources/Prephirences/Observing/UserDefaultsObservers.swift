internal import Foundation
internal import Synchronization

/// The observers of all `UserDefaults` of the process, which share what they are made of.
///
/// Several objects have the same values, and Foundation posts notifications only of whole domains
/// outside Apple's systems. So whoever sets a value through the protocols says where to look, and
/// each observation finds out whether its own object has another value now.
final class UserDefaultsObservers: Sendable {
  static let shared = UserDefaultsObservers()

  private let observations = Mutex<[ObjectIdentifier: ComparingObservation]>([:])
  private let count = Atomic(0)

  private init() {
    // For the life of the process: it does nothing while nobody observes.
    _ = NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: nil, queue: nil
    ) { [weak self] _ in self?.look() }
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

  /// Tells what has changed, of some keys or, without any, of all; the caller holds no lock.
  func look(at keys: [PreferenceKey]? = nil) {
    guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
    for observation in observations.withLock({ Array($0.values) }) { observation.look(at: keys) }
  }
}
