public import Foundation

extension UserDefaults: MutablePreferencesType {
  /// Sets the values of several keys, and saves them.
  ///
  /// - Parameter values: The values by their keys.
  /// - Throws: ``PreferencesError``: ``PreferencesError/Code/unstorable`` for a value that no property
  ///   list can hold, before anything is changed; ``PreferencesError/Code/inputOutput`` if the values
  ///   were set, but not saved.
  public func save(_ values: PreferencesDictionary) throws(PreferencesError) {
    try save(values.map { ($0.key, $0.value) })
  }

  private func save(_ values: [(PreferenceKey, PreferenceObject?)]) throws(PreferencesError) {
    var forms: [(PreferenceKey, Any?)] = []
    for (key, value) in values {
      forms.append(
        (
          key,
          try unwrapped(value).map { value throws(PreferencesError) in
            try Self.form(of: value, forKey: key)
          }
        ))
    }
    for (key, form) in forms { replace(key, with: form) }
    defer { UserDefaultsObservers.shared.look(at: forms.map(\.0)) }
    guard synchronize() else {
      throw PreferencesError(.inputOutput, "the user defaults could not be saved")
    }
  }

  private static func form(
    of value: Any, forKey key: PreferenceKey
  ) throws(PreferencesError) -> Any {
    do throws(PropertyListForm.Unstorable) {
      let form = try PropertyListForm.encode(value)
      // The one would make all of the file unreadable, the other would be read under another key.
      if PropertyListForm.isReference([key: form]) || PropertyListForm.beginsWithByteOrderMark(key)
      {
        throw PropertyListForm.Unstorable(type: type(of: value))
      }
      return form
    } catch {
      throw .unstorable(key, error.type)
    }
  }

  private func replace(_ key: PreferenceKey, with form: Any?) {
    let beside = ExactDates.key(beside: key)
    let dates = form.flatMap(ExactDates.list)
    guard let form else {
      removeObject(forKey: key)
      if object(forKey: beside) != nil { removeObject(forKey: beside) }
      return
    }
    // In this order, as exact dates that are not those of the value are ignored.
    if let dates {
      set(dates as Any?, forKey: beside)
    } else if object(forKey: beside) != nil {
      removeObject(forKey: beside)
    }
    set(form as Any?, forKey: key)
  }

  /// Why the last change through the protocols was refused or not saved; `nil` if it was saved.
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
  /// Without this overload, a literal `nil` calls a method of `UserDefaults` that never returns, on
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
  /// If one value cannot be kept, nothing changes.
  public func set(dictionary: PreferencesDictionary) {
    record(dictionary.map { ($0.key, $0.value) })
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
  }
}
