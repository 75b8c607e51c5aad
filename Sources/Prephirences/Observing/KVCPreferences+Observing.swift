extension KVCPreferences {
  /// Begins to tell changes to an observer: those that are made through preferences of the same
  /// object.
  ///
  /// What the program does to the object itself is not noticed.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    ObjectObservers.shared.add(observer, of: self, object: observed)
  }

  /// The observers of the object; `nil` if there are none.
  var observers: PreferenceObservers? { ObjectObservers.shared.observers(of: observed) }

  /// The object, or for a copy of a structure, which is nobody else's, these preferences.
  private var observed: AnyObject { type(of: target) is AnyClass ? target as AnyObject : self }
}
