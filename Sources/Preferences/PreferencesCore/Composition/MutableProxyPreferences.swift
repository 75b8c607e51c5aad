public import FoundationEssentials

/// A view of other mutable preferences that adds a prefix to each key.
///
/// ```swift
/// let server = MutableProxyPreferences(preferences: UserDefaults.standard, key: "server.")
/// server["port"] = 80  // sets "server.port" of the defaults
/// ```
///
/// Only keys that begin with the prefix are changed.
open class MutableProxyPreferences: ProxyPreferences, MutablePreferencesType, @unchecked Sendable {
  // Unchecked like the superclass.

  private let mutablePreferences: any MutablePreferencesType

  /// Creates a proxy.
  ///
  /// - Parameters:
  ///   - preferences: The other preferences.
  ///   - parentKey: The prefix.
  ///   - separator: The text between the prefix and a key.
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

  /// The value of a key, or the proxy of the keys below it; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  open override subscript(key: PreferenceKey) -> PreferenceObject? {
    get { super[key] }
    set { mutablePreferences[full(key)] = newValue }
  }

  /// Sets the value of a key; `nil` removes the key.
  open func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    mutablePreferences[full(key)] = value
  }

  /// Removes a key and its value.
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

  /// Sets the value of a key to a URL; `nil` removes the key.
  open func set(_ value: URL?, forKey key: PreferenceKey) {
    guard let value else { return removeObject(forKey: key) }
    mutablePreferences.set(value, forKey: full(key))
  }

  /// Sets the value of a key to the archive of an object; `nil` removes the key.
  open func set(objectToArchive value: PreferenceObject?, forKey key: PreferenceKey) {
    mutablePreferences.set(objectToArchive: value, forKey: full(key))
  }

  /// Sets the values of several keys; other keys keep theirs.
  open func set(dictionary: PreferencesDictionary) {
    mutablePreferences.set(
      dictionary: dictionary.reduce(into: [:]) { $0[full($1.key)] = $1.value })
  }

  /// Reports a refused value to the other preferences.
  open func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    mutablePreferences.didRefuse(error, forKey: full(key))
  }

  /// Removes all keys that begin with the prefix.
  ///
  /// Other keys of the preferences stay.
  open func clearAll() {
    if prefix.isEmpty { return mutablePreferences.clearAll() }
    for key in fullKeys() { mutablePreferences.removeObject(forKey: key) }
  }
}

/// A proxy reports the failures of the other preferences.
extension MutableProxyPreferences: FalliblePreferencesType {
  /// Returns the value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: The error of the other preferences.
  public func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    // A subclass may read values in its own way.
    guard type(of: self) == MutableProxyPreferences.self else { return object(forKey: key) }
    return try preferences.fetchedObject(forKey: full(key))
  }

  /// Returns all values below the prefix.
  ///
  /// - Returns: The values by their keys.
  /// - Throws: The error of the other preferences.
  public func fetchDictionary() throws -> PreferencesDictionary {
    guard type(of: self) == MutableProxyPreferences.self,
      !(preferences is any PreferencesAdapter)
    else { return dictionary() }
    return try preferences.fetchedDictionary().reduce(into: [:]) { all, element in
      if let local = local(element.key) { all[local] = element.value }
    }
  }

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: The error of the other preferences.
  public func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) throws {
    try storeObjects([(key, value)])
  }

  /// Sets the values of several keys.
  ///
  /// - Parameter values: The keys with their values; `nil` removes the key.
  /// - Throws: The error of the other preferences.
  public func storeObjects(
    _ values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws {
    guard type(of: self) == MutableProxyPreferences.self,
      let preferences = preferences as? any MutablePreferencesType
    else {
      for (key, value) in values { self[key] = value }
      return
    }
    try preferences.replaceObjects(with: values.map { (full($0.key), $0.value) })
  }
}
