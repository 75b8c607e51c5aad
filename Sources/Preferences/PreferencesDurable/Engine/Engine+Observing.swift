internal import Foundation
internal import Prephirences
internal import PrephirencesSystem
internal import SystemPackage

extension Engine {
  /// Starts notifying an observer of the changes of all processes.
  ///
  /// - Throws: ``PreferencesError`` if those of others cannot be noticed; then nothing is observed.
  func addObserver(
    _ observer: PreferenceObserver, of preferences: some PreferencesType,
    reportingTo failures: Failures
  ) throws -> PreferenceObservation {
    try watch.begin(self, reportingTo: failures)
    // What was changed before is not reported, and what is known now is the old value of the next
    // change. Whoever reads gets the failures.
    try? refresh()
    try? learn(observer.keys)
    let observation = observers.add(observer, of: preferences)
    return PreferenceObservation { [self] in
      guard !ForkGuard.isForked else { return }
      observation.cancel()
      watch.end(reportingTo: failures)
    }
  }

  /// Reads values into the cache.
  private func learn(_ keys: Set<PreferenceKey>?) throws {
    if let keys {
      for key in keys { _ = try fetch(key) }
    } else {
      try fetchAllIntoCache()
    }
  }
}
