extension ProxyPreferences {
  /// Begins to tell changes below the prefix to an observer, whoever makes them.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    let keys = observer.keys.map { Set($0.map(full)) }
    return preferences.addObserver(
      PreferenceObserver(
        keys: keys, initial: observer.wantsInitialValues, end: observer.tellEnd,
        handler: { [self] change in
          guard let key = local(change.key) else { return }
          observer.tell(PreferenceChange(change, forKey: key))
        }))
  }
}
