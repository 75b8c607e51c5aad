public import Prephirences

/// The file is one that only its user can write, unless it is shared with other machines.
extension DurablePreferences: OwnValuePreferences {
  /// Returns the value of a key, unless the file is shared with other machines.
  ///
  /// Whoever writes the shared store writes every value of such a file, in each machine's name.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value; `nil` if there is none, or if the file is shared.
  /// - Throws: ``PreferencesError``.
  public func fetchOwnObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    let value = try fetchObject(forKey: key)
    // Afterwards, so that sharing that begins meanwhile counts.
    return try typed { try engine().isShared() } ? nil : value
  }
}
