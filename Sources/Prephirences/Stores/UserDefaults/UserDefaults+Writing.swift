public import Foundation

extension UserDefaults: MutablePreferencesType {
  /// Why the last change through the protocols, subscripts and wrappers was refused or not saved; `nil`
  /// if it was saved.
  ///
  /// It is that of this object, on any thread.
  public var lastPreferencesError: PreferencesError? { FailedObjects.shared[self] }

  private func record(_ values: [(PreferenceKey, PreferenceObject?)]) {
    do throws(PreferencesError) {
      try save(values)
      FailedObjects.shared[self] = nil
    } catch {
      FailedObjects.shared[self] = error
    }
  }

  /// Sets the value of a key, and saves it; `nil` removes.
  ///
  /// - Parameters:
  ///   - value: The value; one that cannot be kept changes nothing.
  ///   - key: The key.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,set(_:forKey:))
  public func setPreference(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    record([(key, value)])
  }

  /// Removes a key with its value, and saves that.
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

  /// Sets the value of a key to a URL; `nil` removes.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,set(_:forKey:))
  public func setPreference(_ value: URL?, forKey key: PreferenceKey) { record([(key, value)]) }

  /// Removes a key with its value, and saves that.
  ///
  /// Without this method, a literal `nil` calls a method of `UserDefaults` that never returns, on
  /// Linux.
  ///
  /// - Parameters:
  ///   - value: A literal `nil`.
  ///   - key: The key.
  public func set(_ value: _OptionalNilComparisonType, forKey key: PreferenceKey) {
    record([(key, nil)])
  }

  /// Sets the values of several keys, and saves them at once; other keys stay as they are.
  ///
  /// `NSNull`, which JSON has, is left out at any depth. If any other value cannot be kept, nothing
  /// changes.
  public func set(dictionary: PreferencesDictionary) {
    record(withoutNulls(dictionary).map { ($0.key, $0.value) })
  }

  /// Takes note of a value that was refused, as ``lastPreferencesError``.
  public func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    FailedObjects.shared[self] = error
  }

  /// Removes all keys that can be removed, and saves that.
  ///
  /// These are the ones of the program or of the suite; defaults that are registered or given as
  /// arguments, and those of the system, stay.
  public func clearAll() {
    // Of keys that are canonically equivalent, a dictionary names but one at a time, and user
    // defaults save the removal of one only together with that of the others.
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
