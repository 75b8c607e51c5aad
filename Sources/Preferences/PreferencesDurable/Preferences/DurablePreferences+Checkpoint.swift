package import Prephirences

extension DurablePreferences {
  /// Copies the log into the database now, as a writer does when the log is long.
  ///
  /// - Returns: The frames that the log still has.
  /// - Throws: ``PreferencesError``.
  @discardableResult
  package func checkpoint() throws(PreferencesError) -> Int {
    try typed { try engine().checkpoint() }
  }
}
