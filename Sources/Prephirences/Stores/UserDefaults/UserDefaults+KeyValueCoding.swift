#if !canImport(ObjectiveC)
public import Foundation

// What Apple's systems give every object, and Foundation has on no other. Without these, the names are
// keys.
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
  ///   - value: The value; `nil` removes, and one that cannot be kept changes nothing.
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
  /// - Returns: The values of those that have one.
  public func dictionaryWithValues(forKeys keys: [PreferenceKey]) -> PreferencesDictionary {
    keys.reduce(into: [:]) { $0[$1] = preferenceObject(forKey: $1) }
  }

  /// Sets the value of a key to a URL, and saves it.
  ///
  /// Without this method, a URL goes to the one of `UserDefaults`, which keeps only its path, on Linux.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - key: The key.
  public func set(_ url: URL, forKey key: PreferenceKey) { setPreference(url, forKey: key) }

  /// Sets the value of a key to a number, and saves it.
  ///
  /// Without this method, such a number goes to one of `UserDefaults` that stops the program, on Linux.
  ///
  /// - Parameters:
  ///   - value: The number.
  ///   - key: The key.
  public func set(_ value: CGFloat, forKey key: PreferenceKey) {
    setPreference(Double(value), forKey: key)
  }
}

extension UserDefaults {
  /// Not here: there is no key-value coding.
  @available(*, unavailable, message: "read dictionary(forKey:) and its values")
  public func value(forKeyPath keyPath: String) -> PreferenceObject? { nil }

  /// Not here: there is no key-value coding.
  @available(*, unavailable, message: "set the dictionary of the first key")
  public func setValue(_ value: PreferenceObject?, forKeyPath keyPath: String) {}

  /// Not here: Foundation has no colours.
  @available(*, unavailable, message: "store an archive, or a Codable colour")
  public func color(forKey key: PreferenceKey) -> PreferenceObject? { nil }

  /// Not here: Foundation has no colours.
  @available(*, unavailable, message: "store an archive, or a Codable colour")
  public func set(color: PreferenceObject?, forKey key: PreferenceKey) {}

  /// Not here: part of AppKit.
  @available(*, unavailable, renamed: "cgRect(forKey:)")
  public func nsRectForKey(key: PreferenceKey) -> CGRect? { nil }

  /// Not here: part of AppKit.
  @available(*, unavailable, renamed: "cgSize(forKey:)")
  public func nsSizeForKey(key: PreferenceKey) -> CGSize? { nil }
}
#endif
