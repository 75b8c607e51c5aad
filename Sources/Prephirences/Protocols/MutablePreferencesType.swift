public import Foundation

/// Preferences that can be read and changed.
///
/// A conforming type gives ``set(_:forKey:)-(PreferenceObject?,_)`` and ``removeObject(forKey:)``
/// beside what ``PreferencesType`` asks for; all else has a default. Setting `nil` removes, also if
/// the `nil` is wrapped in an `Any`. Setters do not mutate the value they are called on, as the
/// preferences lie elsewhere.
@dynamicMemberLookup
public protocol MutablePreferencesType: PreferencesType {
  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes.
  ///   - key: The key.
  func set(_ value: PreferenceObject?, forKey key: PreferenceKey)

  /// Removes a key with its value.
  ///
  /// - Parameter key: The key; it may have no value.
  func removeObject(forKey key: PreferenceKey)

  /// The value of a key; setting `nil` removes.
  ///
  /// - Parameter key: The key.
  subscript(key: PreferenceKey) -> PreferenceObject? { get nonmutating set }

  /// The value of a key that is written as a member; setting `nil` removes.
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
  ///   - value: The URL; `nil` removes.
  ///   - key: The key.
  func set(_ value: URL?, forKey key: PreferenceKey)

  /// Sets the value of a key to the archive of an object.
  ///
  /// Objects that `NSKeyedArchiver` takes can be archived: those that are `NSCoding`, strings,
  /// numbers, dates, URLs, UUIDs, data, and arrays and dictionaries of these. For any other nothing
  /// is changed.
  ///
  /// - Parameters:
  ///   - value: The object; `nil` removes.
  ///   - key: The key.
  func set(objectToArchive value: PreferenceObject?, forKey key: PreferenceKey)

  /// Removes all keys with their values.
  func clearAll()

  /// Sets the values of several keys; other keys stay as they are.
  ///
  /// What JSON has in place of a value, `NSNull`, is left out at any depth, as no property list can hold
  /// it: its key stays as it is.
  ///
  /// - Parameter dictionary: The values by their keys.
  func set(dictionary: PreferencesDictionary)

  /// Takes note of a value that was refused before it came to the store; for authors of stores and of
  /// transformations.
  ///
  /// A transformation that can make nothing of a value leaves the store alone and calls this, so that
  /// the failure is found where those of the store are. A store that keeps its last failure keeps this
  /// one; preferences made of others hand it on. By default, nothing is done.
  ///
  /// - Parameters:
  ///   - error: Why the value was refused.
  ///   - key: Its key.
  func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey)
}
