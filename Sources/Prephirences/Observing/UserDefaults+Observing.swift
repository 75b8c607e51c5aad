public import Foundation

extension UserDefaults {
  /// Begins to tell changes to an observer.
  ///
  /// These are the changes through the protocols, subscripts and wrappers, on whichever object that
  /// has the same values, and those that `UserDefaults.didChangeNotification` announces. On Linux
  /// that is not posted by the setters of `UserDefaults` itself. The values of observed keys are kept
  /// while they are observed, and so is this object.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    UserDefaultsObservers.shared.add(observer, of: self)
  }
}
