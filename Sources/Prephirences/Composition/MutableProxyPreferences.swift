public import Foundation

/// Other preferences that can be changed, seen by keys without the prefix that they have there.
///
/// ```swift
/// let server = MutableProxyPreferences(preferences: UserDefaults.standard, key: "server.")
/// server["port"] = 80  // sets "server.port" of the defaults
/// ```
///
/// Nothing but keys below the prefix is ever changed.
open class MutableProxyPreferences: ProxyPreferences, MutablePreferencesType, @unchecked Sendable {
  // Unchecked as the class above it.

  private let mutablePreferences: any MutablePreferencesType

  /// Makes a proxy.
  ///
  /// - Parameters:
  ///   - preferences: The other preferences.
  ///   - parentKey: The prefix.
  ///   - separator: What stands between the prefix and a key.
  public init(
    preferences: any MutablePreferencesType, key parentKey: PreferenceKey = "",
    separator: String? = nil
  ) {
    mutablePreferences = preferences
    super.init(preferences: preferences, key: parentKey, separator: separator)
  }

  override func nested(_ key: PreferenceKey) -> ProxyPreferences {
    MutableProxyPreferences(preferences: mutablePreferences, key: full(key), separator: separator)
  }

  /// The value of a key, or the proxy of the keys below it; setting `nil` removes.
  ///
  /// - Parameter key: The key.
  open override subscript(key: PreferenceKey) -> PreferenceObject? {
    get { super[key] }
    set { mutablePreferences[full(key)] = newValue }
  }

  /// Sets the value of a key; `nil` removes.
  open func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    mutablePreferences[full(key)] = value
  }

  /// Removes a key with its value.
  open func removeObject(forKey key: PreferenceKey) {
    mutablePreferences.removeObject(forKey: full(key))
  }

  /// Sets the value of a key to an integer.
  open func set(_ value: Int, forKey key: PreferenceKey) {
    mutablePreferences.set(value, forKey: full(key))
  }

  /// Sets the value of a key to a number in single precision.
  open func set(_ value: Float, forKey key: PreferenceKey) {
    mutablePreferences.set(value, forKey: full(key))
  }

  /// Sets the value of a key to a number.
  open func set(_ value: Double, forKey key: PreferenceKey) {
    mutablePreferences.set(value, forKey: full(key))
  }

  /// Sets the value of a key to a truth value.
  open func set(_ value: Bool, forKey key: PreferenceKey) {
    mutablePreferences.set(value, forKey: full(key))
  }

  /// Sets the value of a key to a URL; `nil` removes.
  open func set(_ value: URL?, forKey key: PreferenceKey) {
    guard let value else { return removeObject(forKey: key) }
    mutablePreferences.set(value, forKey: full(key))
  }

  /// Sets the value of a key to the archive of an object; `nil` removes.
  open func set(objectToArchive value: PreferenceObject?, forKey key: PreferenceKey) {
    mutablePreferences.set(objectToArchive: value, forKey: full(key))
  }

  /// Sets the values of several keys; other keys stay as they are.
  open func set(dictionary: PreferencesDictionary) {
    mutablePreferences.set(
      dictionary: dictionary.reduce(into: [:]) { $0[full($1.key)] = $1.value })
  }

  /// Tells the other preferences why a value was refused.
  open func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    mutablePreferences.didRefuse(error, forKey: full(key))
  }

  /// Removes all keys below the prefix with their values; those of the other preferences that do
  /// not begin with it stay.
  open func clearAll() {
    if prefix.isEmpty { return mutablePreferences.clearAll() }
    for key in fullKeys() { mutablePreferences.removeObject(forKey: key) }
  }
}
