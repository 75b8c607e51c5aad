public import FoundationEssentials

extension MutablePreferencesType {
  /// The value of a key; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceKey) -> PreferenceObject? {
    get { object(forKey: key) }
    nonmutating set {
      if let value = unwrapped(newValue) {
        set(value as PreferenceObject?, forKey: key)
      } else {
        removeObject(forKey: key)
      }
    }
  }

  /// The value of a key, written as a member; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  public subscript(dynamicMember key: PreferenceKey) -> PreferenceObject? {
    get { self[key] }
    nonmutating set { self[key] = newValue }
  }

  /// Sets the value of a key to an integer.
  public func set(_ value: Int, forKey key: PreferenceKey) { self[key] = value }

  /// Sets the value of a key to a number in single precision.
  public func set(_ value: Float, forKey key: PreferenceKey) { self[key] = value }

  /// Sets the value of a key to a number.
  public func set(_ value: Double, forKey key: PreferenceKey) { self[key] = value }

  /// Sets the value of a key to a truth value.
  public func set(_ value: Bool, forKey key: PreferenceKey) { self[key] = value }

  /// Sets the value of a key to a URL; `nil` removes the key.
  public func set(_ value: URL?, forKey key: PreferenceKey) { self[key] = value }

  /// Sets the value of a key to the archive of an object; `nil` removes the key.
  public func set(objectToArchive value: PreferenceObject?, forKey key: PreferenceKey) {
    guard let value = unwrapped(value) else { return removeObject(forKey: key) }
    guard let archive = PreferenceArchive.archive(value) else {
      return didRefuse(.unarchivable(key, type(of: value)), forKey: key)
    }
    self[key] = archive
  }

  /// Removes all keys and their values.
  public func clearAll() {
    for key in dictionary().keys { removeObject(forKey: key) }
  }

  /// Sets the values of several keys; other keys keep theirs.
  public func set(dictionary: PreferencesDictionary) {
    for (key, value) in withoutNulls(dictionary) { self[key] = value }
  }

  /// Does nothing: this store does not record failures.
  public func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {}

  /// Sets the values of several keys, pair by pair.
  ///
  /// - Parameters:
  ///   - objects: The values.
  ///   - keys: Their keys; if one list is longer, its excess is ignored.
  public func set(objects: [PreferenceObject], forKeys keys: [PreferenceKey]) {
    set(dictionary: PreferencesDictionary(zip(keys, objects)) { _, last in last })
  }
}
