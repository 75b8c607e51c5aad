internal import Foundation
internal import PreferencesDurable
internal import PreferencesShared
public import Prephirences

/// The store is preferences as all others: it can be combined, wrapped and observed.
extension NSUbiquitousKeyValueStore: FalliblePreferencesType {
  /// The greatest length of a key, in bytes.
  static let greatestKeyLength = 64

  /// Returns all values.
  ///
  /// - Returns: The values by their keys; empty if they cannot be read.
  public func dictionary() -> PreferencesDictionary { dictionaryRepresentation }

  /// Removes a key and its value, as ``removeObject(forKey:)``: a literal `nil` has no type that
  /// would choose a setter.
  ///
  /// - Parameters:
  ///   - value: A literal `nil`.
  ///   - key: The key.
  public func set(_ value: _OptionalNilComparisonType, forKey key: PreferenceKey) {
    removeObject(forKey: key)
  }

  /// Sets the values of several keys: of all, or if it fails, of none.
  ///
  /// - Parameter dictionary: The values by their keys; JSON's null values are left out.
  public func set(dictionary: PreferencesDictionary) {
    recording {
      try store(withoutNulls(dictionary).map { ($0.key, $0.value) })
    }
  }

  /// Removes all keys and their values; if it fails, none.
  public func clearAll() { preferences.clearAll() }

  /// Records a refused value as ``lastPreferencesError``.
  public func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    preferences.didRefuse(error, forKey: key)
  }

  /// Starts notifying an observer of changes, on this machine and on others.
  ///
  /// - Parameter observer: The observer.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    preferences.addObserver(observer)
  }

  /// Returns the value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: ``PreferencesError`` if the value cannot be read.
  public func fetchObject(
    forKey key: PreferenceKey
  ) throws(PreferencesError) -> PreferenceObject? {
    try preferences.fetchObject(forKey: key)
  }

  /// Returns all values.
  ///
  /// - Returns: The values by their keys.
  /// - Throws: ``PreferencesError`` if they cannot be read.
  public func fetchDictionary() throws(PreferencesError) -> PreferencesDictionary {
    try preferences.fetchDictionary()
  }

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key, at most 64 bytes.
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/overQuota`` if the key is too long,
  ///   or the store would have too many keys or bytes.
  public func storeObject(
    _ value: PreferenceObject?, forKey key: PreferenceKey
  ) throws(PreferencesError) {
    try store([(key, value)])
  }

  /// Sets or removes the values of several keys: of all, or if it fails, of none.
  ///
  /// - Parameter values: The keys with their values; `nil` removes the key.
  /// - Throws: ``PreferencesError`` as ``storeObject(_:forKey:)``.
  public func storeObjects(
    _ values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws(PreferencesError) {
    try store(values)
  }

  /// Removes all keys and their values: all, or if it fails, none.
  ///
  /// - Throws: ``PreferencesError``.
  public func removeAllObjects() throws(PreferencesError) { try preferences.removeAllObjects() }

  // MARK: - Storing

  func store(
    _ values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws(PreferencesError) {
    if let long = values.first(where: { $0.key.utf8.count > Self.greatestKeyLength }) {
      throw PreferencesError(
        .overQuota,
        "the key '\(long.key)' has more than \(Self.greatestKeyLength) bytes; use a shorter one")
    }
    do throws(PreferencesError) {
      try preferences.storeObjects(values)
    } catch {
      if error.code == .overQuota { postChange(.quotaViolation, values.map(\.key)) }
      throw error
    }
  }

  /// Performs a call that does not throw, and records its failure.
  ///
  /// - Returns: Whether it has not failed.
  @discardableResult
  func recording(_ body: () throws -> Void) -> Bool {
    preferences.durable.recorded(body) != nil
  }

  func postChange(
    _ reason: SharedPreferences.ExternalChange.Reason, _ keys: [PreferenceKey]
  ) {
    NotificationCenter.default.post(
      name: Self.didChangeExternallyNotification, object: self,
      userInfo: [
        NSUbiquitousKeyValueStoreChangeReasonKey: NSNumber(value: reason.rawValue),
        NSUbiquitousKeyValueStoreChangedKeysKey: keys,
      ])
  }
}

extension NSUbiquitousKeyValueStore: CastableNumberPreferences {}

extension NSUbiquitousKeyValueStore: ExactKeyPreferences {
  package func pairs() -> [(PreferenceKey, PreferenceObject?)] { preferences.pairs() }
}

extension NSUbiquitousKeyValueStore: ChangeReportingPreferences {
  package func observeChanges(
    _ handler: @escaping @Sendable () -> Void
  ) -> PreferenceObservation {
    preferences.observeChanges(handler)
  }
}
