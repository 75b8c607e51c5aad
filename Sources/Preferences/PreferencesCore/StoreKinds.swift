/// Preferences whose reads and writes can fail, and report it.
///
/// The requirements of ``MutablePreferencesType`` read a failure as `nil` and ignore a failed
/// write. These throw it, so that a program can distinguish an absent value from one that cannot be
/// read now: a locked keychain, a damaged file.
///
/// A conforming type implements ``fetchObject(forKey:)`` and ``storeObject(_:forKey:)``. The others
/// have defaults.
public protocol FalliblePreferencesType: MutablePreferencesType {
  /// Returns the value of a key.
  ///
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: The store's own error if the value cannot be read.
  func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject?

  /// Returns all values.
  ///
  /// - Throws: The store's own error if a value cannot be read. The default returns
  ///   ``PreferencesType/dictionary()``, and throws nothing.
  func fetchDictionary() throws -> PreferencesDictionary

  /// Sets the value of a key.
  ///
  /// - Parameter value: The value; `nil` removes the key.
  /// - Throws: The store's own error if the value was not stored; the old one then stays.
  func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) throws

  /// Sets the values of several keys; other keys keep theirs.
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

  /// Sets or removes the values of several keys; throws if these preferences report that they did
  /// not.
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

/// Preferences that can wait until their values are on the disk.
public protocol SynchronizingPreferences: PreferencesType {
  /// Waits until all values that were set before are on the disk.
  ///
  /// - Throws: The store's own error if they could not be written.
  func synchronize() throws
}

/// Preferences that list their keys; their dictionary is derived from the list.
public protocol PreferencesAdapter: PreferencesType {
  /// Returns the keys that have values.
  ///
  /// - Returns: Each key once.
  func keys() -> [String]
}

extension PreferencesAdapter {
  /// Returns all preferences, read key by key.
  public func dictionary() -> PreferencesDictionary {
    keys().reduce(into: [:]) { $0[$1] = object(forKey: $1) }
  }
}

/// Preferences that compare keys by their bytes, so that a dictionary cannot hold all of them.
package protocol ExactKeyPreferences: PreferencesType {
  /// Returns all keys with their values; none if they cannot be read.
  func pairs() -> [(PreferenceKey, PreferenceObject?)]
}

/// Preferences whose values have only numbers that cast to every type that holds them.
package protocol CastableNumberPreferences: PreferencesType {}

/// Preferences that report that something has changed, without reading the value: it can be a
/// secret.
package protocol ChangeReportingPreferences: PreferencesType {
  /// Calls a closure after each change, whoever makes it, on a thread that may use the preferences.
  func observeChanges(_ handler: @escaping @Sendable () -> Void) -> PreferenceObservation
}
