public import Foundation

extension UserDefaults {
  /// Starts notifying an observer of changes.
  ///
  /// It reports changes made through the protocols, subscripts and wrappers on any object with the
  /// same values, and those that `UserDefaults.didChangeNotification` announces. On Linux, the
  /// setters of `UserDefaults` itself do not post it. The values of observed keys, and this object,
  /// are retained during the observation.
  /// ``BackedUserDefaults`` report all changes of their preferences.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    if let backed { return backed.addVisibleObserver(observer) }
    return UserDefaultsObservers.shared.add(observer, of: self)
  }
}
