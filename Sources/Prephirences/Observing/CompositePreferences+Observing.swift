extension CompositePreferences {
  /// Begins to tell changes to an observer: what becomes visible, whichever preferences have changed.
  ///
  /// A change that preferences asked earlier conceal is not told. To see what is visible, values of the
  /// observed keys are kept while they are observed.
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
