extension ProxyPreferences {
  /// Starts notifying an observer of changes to keys that begin with the prefix, whoever makes
  /// them.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    let keys = observer.keys.map { Set($0.map(full)) }
    return preferences.addObserver(
      PreferenceObserver(
        keys: keys, initial: observer.wantsInitialValues, end: observer.notifyEnd,
        handler: { [self] change in
          guard let key = local(change.key) else { return }
          observer.notify(PreferenceChange(change, forKey: key))
        }))
  }
}
