/// Preferences whose reads and writes can fail, and report it.
///
/// ``MutablePreferencesType`` reads a failure as `nil` and ignores a failed write. These methods
/// throw it, so that a program can distinguish an absent value from one that cannot be read now,
/// such as in a locked keychain or a damaged file.
///
/// A conforming type implements ``fetchObject(forKey:)`` and ``storeObject(_:forKey:)``. The others
/// have defaults.
public protocol FalliblePreferencesType: MutablePreferencesType {
  /// Returns the value of a key, or `nil` if there is none.
  ///
  /// - Throws: The store's own error if the value cannot be read.
  func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject?

  /// Returns all values.
  ///
  /// - Throws: The store's own error if a value cannot be read. The default returns
  ///   ``PreferencesType/dictionary()``, and throws nothing.
  func fetchDictionary() throws -> PreferencesDictionary

  /// Sets the value of a key; `nil` removes the key.
  ///
  /// - Throws: The store's own error if the value was not stored; the old one then stays.
  func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) throws

  /// Sets the values of several keys; other keys do not change.
  ///
  /// - Parameter values: The keys with their values; `nil` removes the key. If a key is repeated,
  ///   its last value is stored.
  /// - Throws: The store's own error. The default stores the values one by one until one fails; a
  ///   store with transactions then changes nothing.
  func storeObjects(_ values: [(key: PreferenceKey, value: PreferenceObject?)]) throws

  /// Removes all keys and their values.
  ///
  /// - Throws: The store's own error. The default passes the keys of ``fetchDictionary()`` to
  ///   ``storeObjects(_:)``.
  func removeAllObjects() throws
}

extension FalliblePreferencesType {
  /// Returns all values; a value that cannot be read may be missing.
  public func fetchDictionary() throws -> PreferencesDictionary { dictionary() }

  /// Sets the values of several keys, one by one.
  public func storeObjects(_ values: [(key: PreferenceKey, value: PreferenceObject?)]) throws {
    for (key, value) in values { try storeObject(value, forKey: key) }
  }

  /// Removes all keys and their values.
  public func removeAllObjects() throws {
    try storeObjects(fetchDictionary().keys.map { ($0, nil) })
  }
}

extension PreferencesType {
  /// Returns the value of a key; throws if these preferences report that it cannot be read.
  package func fetchedObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    guard let fallible = self as? any FalliblePreferencesType else { return object(forKey: key) }
    return try fallible.fetchObject(forKey: key)
  }

  /// Returns all values; throws if these preferences report that one cannot be read.
  package func fetchedDictionary() throws -> PreferencesDictionary {
    try (self as? any FalliblePreferencesType)?.fetchDictionary() ?? dictionary()
  }
}

extension MutablePreferencesType {
  /// Sets or removes the value of a key; throws if these preferences report that they did not.
  package func replaceObject(with value: PreferenceObject?, forKey key: PreferenceKey) throws {
    if let fallible = self as? any FalliblePreferencesType {
      try fallible.storeObject(value, forKey: key)
    } else {
      self[key] = value
    }
  }

  /// Sets or removes the values of several keys; throws if these preferences report a failure.
  package func replaceObjects(
    with values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws {
    if let fallible = self as? any FalliblePreferencesType {
      try fallible.storeObjects(values)
    } else {
      for (key, value) in values { self[key] = value }
    }
  }
}

/// Preferences that know which values are the user's own: written by this program or its user, not
/// by a server, another user, or the caller of the program.
///
/// Code that acts on a value, such as resolving a reference to a credential, accepts only own
/// values. No value is an own one unless its preferences say so: the environment, arguments,
/// registered defaults, bundles and values in memory, which may be loaded from a server, are not.
///
/// A program that trusts another store declares that in its own subclass:
///
/// ```swift
/// final class ServerConfiguration: Plist, OwnValuePreferences, @unchecked Sendable {}
/// ```
public protocol OwnValuePreferences: PreferencesType {
  /// Returns the value of a key if it is the user's own; otherwise `nil`.
  ///
  /// - Throws: The store's own error if the value cannot be read. The default returns every value.
  func fetchOwnObject(forKey key: PreferenceKey) throws -> PreferenceObject?
}

extension OwnValuePreferences {
  /// Returns the value of a key: all values are the user's own.
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

/// Preferences that can wait until their values are on disk.
public protocol SynchronizingPreferences: PreferencesType {
  /// Waits until all values that were set before are on disk.
  ///
  /// - Throws: The store's own error if they could not be written.
  func synchronize() throws
}

/// Preferences that list their keys, from which their dictionary is derived.
public protocol PreferencesAdapter: PreferencesType {
  /// Returns the keys that have values, each once.
  func keys() -> [String]
}

extension PreferencesAdapter {
  /// Returns all preferences, read key by key.
  public func dictionary() -> PreferencesDictionary {
    keys().reduce(into: [:]) { $0[$1] = object(forKey: $1) }
  }
}

/// Preferences that compare keys by bytes, so that a dictionary cannot hold all of them.
package protocol ExactKeyPreferences: PreferencesType {
  /// Returns all keys with their values; none if they cannot be read.
  func pairs() -> [(PreferenceKey, PreferenceObject?)]
}

/// Preferences whose values have only numbers that cast to every type that holds them.
package protocol CastableNumberPreferences: PreferencesType {}

/// Preferences that report that something has changed, without reading the value, which can be a
/// secret.
package protocol ChangeReportingPreferences: PreferencesType {
  /// Calls a closure after each change, on a thread that may use the preferences.
  func observeChanges(_ handler: @escaping @Sendable () -> Void) -> PreferenceObservation
}
