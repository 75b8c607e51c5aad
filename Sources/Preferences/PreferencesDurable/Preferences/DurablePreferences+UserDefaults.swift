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
    do throws(PreferencesError) {
      try engine.watch.begin(engine, reportingTo: failures)
      // What was changed while nobody observed.
      try? engine.refresh()
    } catch {
      // The changes of other processes are noticed by the next read.
      failures.record(error)
      return observation
    }
    return PreferenceObservation { [failures] in
      guard !ForkGuard.isForked else { return }
      observation.cancel()
      engine.watch.end(reportingTo: failures)
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
