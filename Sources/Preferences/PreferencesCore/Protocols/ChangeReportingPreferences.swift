/// Preferences that report that something has changed, without reading the value: it can be a
/// secret.
package protocol ChangeReportingPreferences: PreferencesType {
  /// Calls a closure after each change, whoever makes it, on a thread that may use the preferences.
  func observeChanges(_ handler: @escaping @Sendable () -> Void) -> PreferenceObservation
}
