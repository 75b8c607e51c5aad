public import Foundation

/// User defaults report failures.
///
/// Plain user defaults report those of saving, ``BackedUserDefaults`` also those of reading.
extension UserDefaults: FalliblePreferencesType {
  /// Returns the value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: For ``BackedUserDefaults``, the error of their preferences if the value cannot be
  ///   read; otherwise nothing.
  public func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    if let backed { return try backed.fetch(key) }
    return preferenceObject(forKey: key)
  }

  /// Sets the value of a key, and saves it.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` for a value that
  ///   cannot be stored; with ``PreferencesError/Code/inputOutput`` if it was set, but not saved.
  public func storeObject(
    _ value: PreferenceObject?, forKey key: PreferenceKey
  ) throws(PreferencesError) {
    try save([(key, value)])
  }

  /// Sets the values of several keys, and saves them in one step.
  ///
  /// - Parameter values: The keys with their values; `nil` removes the key.
  /// - Throws: As ``storeObject(_:forKey:)``; an unsupported value changes nothing.
  public func storeObjects(
    _ values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws(PreferencesError) {
    try save(values.map { ($0.key, $0.value) })
  }

  /// Removes all keys that can be removed, and saves the change; see ``clearAll()``.
  ///
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/inputOutput`` if the change was not
  ///   saved.
  public func removeAllObjects() throws(PreferencesError) {
    clearAll()
    if let lastPreferencesError { throw lastPreferencesError }
  }

  /// Performs changes by the methods of `UserDefaults` itself, saves them, and notifies observers.
  ///
  /// A refusal that they record stays recorded. ``BackedUserDefaults`` do all of this themselves.
  ///
  /// - Parameters:
  ///   - keys: The keys that are changed.
  ///   - changes: Makes the changes.
  package func saveChanges(forKeys keys: [PreferenceKey], _ changes: () -> Void) {
    guard backed == nil else { return changes() }
    FailedObjects.shared[self] = nil
    changes()
    defer { UserDefaultsObservers.shared.look(at: keys) }
    guard !UserDefaultsLock.withLock(synchronize) else { return }
    FailedObjects.shared[self] = PreferencesError(
      .inputOutput, "the user defaults could not be saved")
  }
}

extension UserDefaults: CastableNumberPreferences {}
