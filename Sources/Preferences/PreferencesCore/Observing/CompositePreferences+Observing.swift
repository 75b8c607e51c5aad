extension CompositePreferences {
  /// Starts notifying an observer of changes to visible values, whichever preferences have changed.
  ///
  /// A change is not reported if preferences earlier in the order hide it. To find visible changes,
  /// this retains the values of the observed keys during the observation.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    let comparing = ComparingObservation(observer, of: self)
    let members = array.map { member in
      member.addObserver(
        PreferenceObserver(keys: observer.keys) { comparing.look(at: [$0.key]) })
    }
    comparing.begin()
    return PreferenceObservation {
      comparing.end()
      for member in members { member.cancel() }
    }
  }
}
