internal import Prephirences

extension DurablePreferences {
  /// Copies the write-ahead log into the database now, for tests; writers do it when it is long.
  ///
  /// - Returns: The frames that the log still has, because other processes read them.
  @discardableResult
  package func checkpoint() throws -> Int {
    try typed { try engine().checkpoint() }
  }
}
