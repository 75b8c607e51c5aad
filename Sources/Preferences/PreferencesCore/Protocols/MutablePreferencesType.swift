public import FoundationEssentials

/// Preferences that can be read and changed.
///
/// A conforming type implements ``set(_:forKey:)-(PreferenceObject?,_)`` and
/// ``removeObject(forKey:)`` in addition to the requirements of ``PreferencesType``; everything
/// else has a default. Setting `nil` removes the key, even if the `nil` is wrapped in an `Any`.
/// Setters are not mutating, because the values are stored elsewhere.
@dynamicMemberLookup
public protocol MutablePreferencesType: PreferencesType {
  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  func set(_ value: PreferenceObject?, forKey key: PreferenceKey)

  /// Removes a key and its value.
  ///
  /// - Parameter key: The key; it may have no value.
  func removeObject(forKey key: PreferenceKey)

  /// The value of a key; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  subscript(key: PreferenceKey) -> PreferenceObject? { get nonmutating set }

  /// The value of a key, written as a member; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  subscript(dynamicMember key: PreferenceKey) -> PreferenceObject? { get nonmutating set }

  /// Sets the value of a key to an integer.
  ///
  /// - Parameters:
  ///   - value: The integer.
  ///   - key: The key.
  func set(_ value: Int, forKey key: PreferenceKey)

  /// Sets the value of a key to a number in single precision.
  ///
  /// - Parameters:
  ///   - value: The number.
  ///   - key: The key.
  func set(_ value: Float, forKey key: PreferenceKey)

  /// Sets the value of a key to a number.
  ///
  /// - Parameters:
  ///   - value: The number.
  ///   - key: The key.
  func set(_ value: Double, forKey key: PreferenceKey)

  /// Sets the value of a key to a truth value.
  ///
  /// - Parameters:
  ///   - value: The truth value.
  ///   - key: The key.
  func set(_ value: Bool, forKey key: PreferenceKey)

  /// Sets the value of a key to a URL.
  ///
  /// - Parameters:
  ///   - value: The URL; `nil` removes the key.
  ///   - key: The key.
  func set(_ value: URL?, forKey key: PreferenceKey)

  /// Sets the value of a key to the archive of an object.
  ///
  /// Supported are objects that `NSKeyedArchiver` accepts: `NSCoding` objects, strings, numbers,
  /// dates, URLs, UUIDs, data, and arrays and dictionaries of these. Any other object changes
  /// nothing.
  ///
  /// - Parameters:
  ///   - value: The object; `nil` removes the key.
  ///   - key: The key.
  func set(objectToArchive value: PreferenceObject?, forKey key: PreferenceKey)

  /// Removes all keys and their values.
  func clearAll()

  /// Sets the values of several keys; other keys keep theirs.
  ///
  /// JSON's null value, `NSNull`, is left out at any depth, because a property list cannot hold it:
  /// its key does not change.
  ///
  /// - Parameter dictionary: The values by their keys.
  func set(dictionary: PreferencesDictionary)

  /// Records a value that was refused before it reached the store; for authors of stores and of
  /// transformations.
  ///
  /// A transformation that cannot convert a value does not change the store and calls this, so that
  /// the failure is found with the store's own. A store that records its last failure records this
  /// one; preferences that combine others pass it on. The default does nothing.
  ///
  /// - Parameters:
  ///   - error: Why the value was refused.
  ///   - key: Its key.
  func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey)
}

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
