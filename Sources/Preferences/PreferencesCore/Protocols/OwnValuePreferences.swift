/// Preferences that know which of their values are the user's own: written by this program or its
/// user, not by a server, another user, or whoever starts the program.
///
/// What can give a value power, such as a reference to a credential, takes only own values. No value
/// is one unless its preferences say so: the environment, arguments, registered defaults, bundles
/// and values in memory, which may be loaded from a server, are not.
///
/// A program that trusts another store declares that in a subclass of its own:
///
/// ```swift
/// final class ServerConfiguration: Plist, OwnValuePreferences, @unchecked Sendable {}
/// ```
public protocol OwnValuePreferences: PreferencesType {
  /// Returns the value of a key if it is the user's own.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value; `nil` if there is none, or if it is from elsewhere.
  /// - Throws: The store's own error if the value cannot be read. The default returns every value.
  func fetchOwnObject(forKey key: PreferenceKey) throws -> PreferenceObject?
}

extension OwnValuePreferences {
  /// Returns the value of a key: all are the user's own.
  public func fetchOwnObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    try fetchedObject(forKey: key)
  }
}

extension PreferencesType {
  /// Returns the value of a key if it is known to be the user's own.
  package func ownObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    try (self as? any OwnValuePreferences)?.fetchOwnObject(forKey: key)
  }
}
