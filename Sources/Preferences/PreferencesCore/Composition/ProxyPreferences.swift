public import FoundationEssentials

/// A view of other preferences that adds a prefix to each key.
///
/// ```swift
/// let server = ProxyPreferences(preferences: UserDefaults.standard, key: "server.")
/// server["port"]  // what the defaults have for "server.port"
/// ```
///
/// The full key is the prefix, the separator if there is one, and the key. With a separator, the
/// subscript of a key without a value returns a proxy of the keys below it: `proxy["server"]` if
/// only `server.port` has a value. `object(forKey:)` returns `nil` in that case.
open class ProxyPreferences: PreferencesType, @unchecked Sendable {
  // Unchecked because the preferences guard themselves; this object does not change.

  /// The other preferences.
  public let preferences: any PreferencesType

  let separator: String?

  /// The start of all full keys.
  let prefix: String

  /// Creates a proxy.
  ///
  /// - Parameters:
  ///   - preferences: The other preferences.
  ///   - parentKey: The prefix.
  ///   - separator: The text between the prefix and a key.
  public init(
    preferences: any PreferencesType, key parentKey: PreferenceKey, separator: String?
  ) {
    self.preferences = preferences
    self.separator = separator
    prefix = parentKey + (separator ?? "")
  }

  /// Creates a proxy without a separator.
  ///
  /// - Parameters:
  ///   - preferences: The other preferences.
  ///   - parentKey: The prefix.
  public convenience init(preferences: any PreferencesType, key parentKey: String) {
    self.init(preferences: preferences, key: parentKey, separator: nil)
  }

  /// Creates a read-only proxy without a prefix.
  ///
  /// - Parameter preferences: The other preferences.
  public convenience init(preferences: any PreferencesType) {
    self.init(preferences: preferences, key: "", separator: nil)
  }

  /// Returns the proxy of the keys below a key.
  func nested(_ key: PreferenceKey) -> ProxyPreferences {
    ProxyPreferences(preferences: preferences, key: full(key), separator: separator)
  }

  /// The value of a key, or the proxy of the keys below it.
  ///
  /// - Parameter key: The key.
  open subscript(key: PreferenceKey) -> PreferenceObject? {
    if let value = object(forKey: key) { return value }
    guard let separator, hasKeys(below: key, separator) else { return nil }
    return nested(key)
  }

  /// Returns the value of a key.
  open func object(forKey key: PreferenceKey) -> PreferenceObject? {
    preferences.object(forKey: full(key))
  }

  /// Returns all preferences below the prefix.
  open func dictionary() -> PreferencesDictionary {
    if preferences is any PreferencesAdapter {
      // Reading all values may cost more than listing the keys, for example in a keychain.
      return fullKeys().reduce(into: [:]) { all, key in
        if let local = local(key) { all[local] = preferences.object(forKey: key) }
      }
    }
    return preferences.dictionary().reduce(into: [:]) { all, element in
      if let local = local(element.key) { all[local] = element.value }
    }
  }

  // The other preferences convert, because their getters may know more than the value shows.

  /// Returns whether a key has a value.
  open func hasObject(forKey key: PreferenceKey) -> Bool {
    preferences.hasObject(forKey: full(key))
  }

  /// Returns the text of a key.
  open func string(forKey key: PreferenceKey) -> String? {
    preferences.string(forKey: full(key))
  }

  /// Returns the array of a key.
  open func array(forKey key: PreferenceKey) -> [PreferenceObject]? {
    preferences.array(forKey: full(key))
  }

  /// Returns the dictionary of a key.
  open func dictionary(forKey key: PreferenceKey) -> PreferencesDictionary? {
    preferences.dictionary(forKey: full(key))
  }

  /// Returns the array of strings of a key.
  open func stringArray(forKey key: PreferenceKey) -> [String]? {
    preferences.stringArray(forKey: full(key))
  }

  /// Returns the integer of a key.
  open func integer(forKey key: PreferenceKey) -> Int {
    preferences.integer(forKey: full(key))
  }

  /// Returns the number of a key, in single precision.
  open func float(forKey key: PreferenceKey) -> Float {
    preferences.float(forKey: full(key))
  }

  /// Returns the number of a key.
  open func double(forKey key: PreferenceKey) -> Double {
    preferences.double(forKey: full(key))
  }

  /// Returns the truth value of a key.
  open func bool(forKey key: PreferenceKey) -> Bool { preferences.bool(forKey: full(key)) }

  /// Returns the bytes of a key.
  open func data(forKey key: PreferenceKey) -> Data? { preferences.data(forKey: full(key)) }

  /// Returns the URL of a key.
  open func url(forKey key: PreferenceKey) -> URL? { preferences.url(forKey: full(key)) }

  /// Returns the object whose archive is the value of a key.
  open func unarchiveObject(forKey key: PreferenceKey) -> PreferenceObject? {
    preferences.unarchiveObject(forKey: full(key))
  }
}

extension ProxyPreferences {
  /// Returns the full key in the other preferences.
  func full(_ key: PreferenceKey) -> PreferenceKey { prefix + key }

  /// Returns the key without the prefix; `nil` if it does not begin with the prefix.
  func local(_ key: PreferenceKey) -> PreferenceKey? {
    // Compares bytes: the text after the prefix may combine with the prefix's last character.
    guard key.utf8.starts(with: prefix.utf8) else { return nil }
    return String(Substring(key.utf8.dropFirst(prefix.utf8.count)))
  }

  /// Returns the keys of the other preferences that begin with the prefix.
  func fullKeys() -> [PreferenceKey] {
    preferences.allKeys().filter { $0.utf8.starts(with: prefix.utf8) }
  }

  private func hasKeys(below key: PreferenceKey, _ separator: String) -> Bool {
    let prefix = full(key) + separator
    return preferences.allKeys().contains { $0.utf8.starts(with: prefix.utf8) }
  }
}

extension PreferencesType {
  /// Returns a read-only view of these preferences.
  ///
  /// - Returns: A proxy, which shows all later changes.
  public func immutableProxy() -> any PreferencesType { ProxyPreferences(preferences: self) }

  func allKeys() -> [PreferenceKey] {
    (self as? any PreferencesAdapter)?.keys() ?? Array(dictionary().keys)
  }
}
