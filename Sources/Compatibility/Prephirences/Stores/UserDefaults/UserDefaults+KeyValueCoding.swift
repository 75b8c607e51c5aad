#if !canImport(ObjectiveC)
public import Foundation

// Apple's systems give these methods to every object; Foundation on other systems does not. Without
// these declarations, dynamic member lookup would take the names for keys.
extension UserDefaults {
  /// Returns the value of a key; another spelling of ``preferenceObject(forKey:)``.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  public func value(forKey key: PreferenceKey) -> PreferenceObject? {
    preferenceObject(forKey: key)
  }

  /// Sets the value of a key, and saves it; another spelling of ``setPreference(_:forKey:)-(PreferenceObject?,_)``.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key, and an unsupported value changes nothing.
  ///   - key: The key.
  public func setValue(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    setPreference(value, forKey: key)
  }

  /// Sets the values of several keys, and saves them; another spelling of ``set(dictionary:)``.
  ///
  /// - Parameter keyedValues: The values by their keys.
  public func setValuesForKeys(_ keyedValues: PreferencesDictionary) {
    set(dictionary: keyedValues)
  }

  /// Returns the values of several keys.
  ///
  /// - Parameter keys: The keys.
  /// - Returns: The values of the keys that have one.
  public func dictionaryWithValues(forKeys keys: [PreferenceKey]) -> PreferencesDictionary {
    keys.reduce(into: [:]) { $0[$1] = preferenceObject(forKey: $1) }
  }

  /// Sets the value of a key to a URL, and saves it.
  ///
  /// Without this method, a URL goes to the setter of `UserDefaults`, which on Linux stores only
  /// its path.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - key: The key.
  public func set(_ url: URL, forKey key: PreferenceKey) { setPreference(url, forKey: key) }

  /// Sets the value of a key to a number, and saves it.
  ///
  /// Without this method, such a number goes to a setter of `UserDefaults` that on Linux stops the
  /// program.
  ///
  /// - Parameters:
  ///   - value: The number.
  ///   - key: The key.
  public func set(_ value: CGFloat, forKey key: PreferenceKey) {
    setPreference(Double(value), forKey: key)
  }
}

extension UserDefaults {
  /// Unavailable: there is no key-value coding.
  @available(*, unavailable, message: "read dictionary(forKey:) and its values")
  public func value(forKeyPath keyPath: String) -> PreferenceObject? { nil }

  /// Unavailable: there is no key-value coding.
  @available(*, unavailable, message: "set the dictionary of the first key")
  public func setValue(_ value: PreferenceObject?, forKeyPath keyPath: String) {}

  /// Unavailable: Foundation has no colours.
  @available(*, unavailable, message: "store an archive, or a Codable colour")
  public func color(forKey key: PreferenceKey) -> PreferenceObject? { nil }

  /// Unavailable: Foundation has no colours.
  @available(*, unavailable, message: "store an archive, or a Codable colour")
  public func set(color: PreferenceObject?, forKey key: PreferenceKey) {}

  /// Unavailable: part of AppKit.
  @available(*, unavailable, renamed: "cgRect(forKey:)")
  public func nsRectForKey(key: PreferenceKey) -> CGRect? { nil }

  /// Unavailable: part of AppKit.
  @available(*, unavailable, renamed: "cgSize(forKey:)")
  public func nsSizeForKey(key: PreferenceKey) -> CGSize? { nil }
}
#endif
