public import Prephirences

// What `DurableUserDefaults` needs.

extension DurablePreferences: SynchronizingPreferences {}

extension DurablePreferences: CastableNumberPreferences {}

extension DurablePreferences: ChangeReportingPreferences {
  package func observeChanges(
    _ handler: @escaping @Sendable () -> Void
  ) -> PreferenceObservation {
    guard let engine = try? engine() else { return PreferenceObservation {} }
    let observation = engine.observers.signals.add(handler)
    // Without a watch, the changes of other processes are noticed by the next read.
    guard (try? engine.watch.begin(engine)) != nil else { return observation }
    return PreferenceObservation {
      observation.cancel()
      engine.watch.end()
    }
  }
}

extension DurablePreferences {
  /// Returns all values; another name for ``fetchAllObjects()``.
  ///
  /// - Returns: The values by their keys.
  /// - Throws: ``PreferencesError`` if the values cannot be read.
  public func fetchDictionary() throws(PreferencesError) -> PreferencesDictionary {
    try fetchAllObjects()
  }
}
