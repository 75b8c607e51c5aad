public import Prephirences

extension DurablePreferences {
  /// Starts notifying an observer of changes.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    guard let engine = recorded({ try engine() }) else {
      observer.notifyEnd()
      return PreferenceObservation {}
    }
    return engine.observers.add(observer, of: self)
  }
}
