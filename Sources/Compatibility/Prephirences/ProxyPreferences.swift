public import FoundationEssentials
public import PreferencesCore

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
open class ProxyPreferences: ForwardingPreferences, @unchecked Sendable {
  // Unchecked because the preferences guard themselves; this object does not change.

  /// The other preferences.
  public let preferences: any PreferencesType

  let separator: String?

  /// The start of all full keys.
  let prefix: String

  /// Creates a proxy, with an optional text between the prefix and a key.
  public init(
    preferences: any PreferencesType, key parentKey: PreferenceKey, separator: String?
  ) {
    self.preferences = preferences
    self.separator = separator
    prefix = parentKey + (separator ?? "")
    super.init()
  }

  /// Creates a proxy without a separator.
  public convenience init(preferences: any PreferencesType, key parentKey: String) {
    self.init(preferences: preferences, key: parentKey, separator: nil)
  }

  /// Creates a read-only proxy without a prefix.
  public convenience init(preferences: any PreferencesType) {
    self.init(preferences: preferences, key: "", separator: nil)
  }

  /// Returns the proxy of the keys below a key.
  func nested(_ key: PreferenceKey) -> ProxyPreferences {
    ProxyPreferences(preferences: preferences, key: full(key), separator: separator)
  }

  /// The value of a key, or the proxy of the keys below it.
  open override subscript(key: PreferenceKey) -> PreferenceObject? {
    if let value = object(forKey: key) { return value }
    guard let separator, hasKeys(below: key, separator) else { return nil }
    return nested(key)
  }

  override func resolve(_ key: PreferenceKey) -> (preferences: any PreferencesType, key: String)? {
    (preferences, full(key))
  }

  /// The failure of the other preferences.
  open override var lastPreferencesError: PreferencesError? { preferences.lastPreferencesError }

  /// Returns all preferences below the prefix.
  open override func dictionary() -> PreferencesDictionary {
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

  /// Starts notifying an observer of changes to keys that begin with the prefix.
  open override func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    let keys = observer.keys.map { Set($0.map(full)) }
    return preferences.addObserver(
      PreferenceObserver(
        keys: keys, initial: observer.wantsInitialValues, end: observer.notifyEnd,
        handler: { [self] change in
          guard let key = local(change.key) else { return }
          observer.notify(PreferenceChange(change, forKey: key))
        }))
  }
}

/// A value of a proxy is that of the other preferences.
extension ProxyPreferences: OwnValuePreferences {
  /// Returns the value of a key if it is an own one of the other preferences; otherwise `nil`.
  ///
  /// - Throws: The error of the other preferences.
  public func fetchOwnObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    try preferences.ownObject(forKey: full(key))
  }
}

extension ProxyPreferences {
  /// Returns the full key in the other preferences.
  func full(_ key: PreferenceKey) -> PreferenceKey { prefix + key }

  /// Returns the key without the prefix, or `nil` if it does not begin with it.
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
  /// Returns a read-only proxy of these preferences, which shows all later changes.
  public func immutableProxy() -> any PreferencesType { ProxyPreferences(preferences: self) }

  func allKeys() -> [PreferenceKey] {
    (self as? any PreferencesAdapter)?.keys() ?? Array(dictionary().keys)
  }
}

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

  /// Creates a proxy, with an optional text between the prefix and a key.
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
  open override subscript(key: PreferenceKey) -> PreferenceObject? {
    get { super[key] }
    set { mutablePreferences[full(key)] = newValue }
  }

  open func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    mutablePreferences[full(key)] = value
  }

  open func removeObject(forKey key: PreferenceKey) {
    mutablePreferences.removeObject(forKey: full(key))
  }

  open func set(_ value: Int, forKey key: PreferenceKey) {
    mutablePreferences.set(value, forKey: full(key))
  }

  open func set(_ value: Float, forKey key: PreferenceKey) {
    mutablePreferences.set(value, forKey: full(key))
  }

  open func set(_ value: Double, forKey key: PreferenceKey) {
    mutablePreferences.set(value, forKey: full(key))
  }

  open func set(_ value: Bool, forKey key: PreferenceKey) {
    mutablePreferences.set(value, forKey: full(key))
  }

  open func set(_ value: URL?, forKey key: PreferenceKey) {
    guard let value else { return removeObject(forKey: key) }
    mutablePreferences.set(value, forKey: full(key))
  }

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

  /// Removes all keys that begin with the prefix; other keys of the preferences stay.
  open func clearAll() {
    if prefix.isEmpty { return mutablePreferences.clearAll() }
    for key in fullKeys() { mutablePreferences.removeObject(forKey: key) }
  }
}

/// A proxy reports the failures of the other preferences.
extension MutableProxyPreferences: FalliblePreferencesType {
  /// Returns the value of a key, or `nil`.
  ///
  /// - Throws: The error of the other preferences.
  public func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    // A subclass may read values in its own way.
    guard type(of: self) == MutableProxyPreferences.self else { return object(forKey: key) }
    return try preferences.fetchedObject(forKey: full(key))
  }

  /// Returns all values below the prefix.
  ///
  /// - Throws: The error of the other preferences.
  public func fetchDictionary() throws -> PreferencesDictionary {
    guard type(of: self) == MutableProxyPreferences.self,
      !(preferences is any PreferencesAdapter)
    else { return dictionary() }
    return try preferences.fetchedDictionary().reduce(into: [:]) { all, element in
      if let local = local(element.key) { all[local] = element.value }
    }
  }

  /// Sets the value of a key; `nil` removes the key.
  ///
  /// - Throws: The error of the other preferences.
  public func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) throws {
    try storeObjects([(key, value)])
  }

  /// Sets the values of several keys; `nil` removes a key.
  ///
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
