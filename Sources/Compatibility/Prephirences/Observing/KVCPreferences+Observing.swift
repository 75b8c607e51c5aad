extension KVCPreferences {
  /// Starts notifying an observer of changes that are made through preferences of the same object.
  ///
  /// Changes that the program makes to the object itself are not noticed.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    ObjectObservers.shared.add(observer, of: self, object: observed)
  }

  /// The observers of the object; `nil` if there are none.
  var observers: PreferenceObservers? { ObjectObservers.shared.observers(of: observed) }

  /// The object, or these preferences if they wrap a copy of a structure, which nobody else uses.
  private var observed: AnyObject { type(of: target) is AnyClass ? target as AnyObject : self }
}
