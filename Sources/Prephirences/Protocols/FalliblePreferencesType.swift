/// Preferences whose reads and writes can fail, and report it.
///
/// The requirements of ``MutablePreferencesType`` read a failure as `nil` and ignore a failed
/// write. These throw it, so that a program can distinguish an absent value from one that cannot be
/// read now: a locked keychain, a damaged file.
public protocol FalliblePreferencesType: MutablePreferencesType {
  /// Returns the value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: The store's own error if the value cannot be read.
  func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject?

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: The store's own error if the value was not stored; the old one then stays.
  func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) throws
}
