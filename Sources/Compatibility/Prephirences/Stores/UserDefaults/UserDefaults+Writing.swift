public import Foundation

extension UserDefaults: MutablePreferencesType {
  /// Why the last change through the protocols, subscripts and wrappers was refused or not saved; `nil`
  /// if it was saved.
  ///
  /// It belongs to this object, on all threads. For ``BackedUserDefaults``, it is also the failure of
  /// the last read, until a read succeeds.
  public var lastPreferencesError: PreferencesError? {
    if let backed { return backed.failure }
    return FailedObjects.shared[self]
  }

  private func record(_ values: [(PreferenceKey, PreferenceObject?)]) {
    if let backed { return backed.write(values) }
    do throws(PreferencesError) {
      try save(values)
      FailedObjects.shared[self] = nil
    } catch {
      FailedObjects.shared[self] = error
    }
  }

  /// Sets the value of a key, and saves it; `nil` removes the key.
  ///
  /// - Parameters:
  ///   - value: The value; an unsupported value changes nothing.
  ///   - key: The key.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,set(_:forKey:))
  public func setPreference(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    record([(key, value)])
  }

  /// Removes a key and its value, and saves the change.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,removeObject(forKey:))
  public func removePreference(forKey key: PreferenceKey) { record([(key, nil)]) }

  /// Sets the value of a key to an integer.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,set(_:forKey:))
  public func setPreference(_ value: Int, forKey key: PreferenceKey) { record([(key, value)]) }

  /// Sets the value of a key to a number in single precision.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,set(_:forKey:))
  public func setPreference(_ value: Float, forKey key: PreferenceKey) { record([(key, value)]) }

  /// Sets the value of a key to a number.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,set(_:forKey:))
  public func setPreference(_ value: Double, forKey key: PreferenceKey) { record([(key, value)]) }

  /// Sets the value of a key to a truth value.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,set(_:forKey:))
  public func setPreference(_ value: Bool, forKey key: PreferenceKey) { record([(key, value)]) }

  /// Sets the value of a key to a URL; `nil` removes the key.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,set(_:forKey:))
  public func setPreference(_ value: URL?, forKey key: PreferenceKey) { record([(key, value)]) }

  /// Removes a key and its value, and saves the change.
  ///
  /// On Linux, a literal `nil` would otherwise call a method of `UserDefaults` that never returns.
  ///
  /// - Parameters:
  ///   - value: A literal `nil`.
  ///   - key: The key.
  public func set(_ value: _OptionalNilComparisonType, forKey key: PreferenceKey) {
    record([(key, nil)])
  }

  /// Sets the values of several keys, and saves them in one step; other keys keep theirs.
  ///
  /// JSON's `NSNull` is left out at any depth. If any other value cannot be stored, nothing
  /// changes.
  public func set(dictionary: PreferencesDictionary) {
    record(withoutNulls(dictionary).map { ($0.key, $0.value) })
  }

  /// Records a refused value as ``lastPreferencesError``.
  public func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    if let backed { return backed.record(error) }
    FailedObjects.shared[self] = error
  }

  /// Removes all keys that can be removed, and saves the change.
  ///
  /// These are the keys of the program or of the suite; defaults that are registered, given as
  /// arguments or from the system stay.
  public func clearAll() {
    if let backed { return backed.clear() }
    // A dictionary lists only one of several canonically equivalent keys at a time, and user
    // defaults save the removal of one only together with the others.
    var remaining = Int.max
    while case let keys = dictionaryRepresentation().keys, keys.count < remaining {
      remaining = keys.count
      for key in keys {
        removeObject(forKey: key)
        removeObject(forKey: key.precomposedStringWithCanonicalMapping)
        removeObject(forKey: key.decomposedStringWithCanonicalMapping)
      }
      record([])
    }
    UserDefaultsObservers.shared.look()
  }
}
