public import Foundation

/// Preferences in memory.
///
/// ```swift
/// let preferences: MutableDictionaryPreferences = ["myKey": "myValue"]
/// preferences["newKey"] = "newValue"
/// ```
///
/// Any number of threads may use one at a time.
open class MutableDictionaryPreferences: DictionaryPreferences, MutablePreferencesType,
  @unchecked Sendable
{
  /// The value of a key; setting `nil` removes.
  ///
  /// - Parameter key: The key.
  open override subscript(key: PreferenceKey) -> PreferenceObject? {
    get { object(forKey: key) }
    set { set(newValue, forKey: key) }
  }

  /// Sets the value of a key; `nil` removes.
  open func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    storage.replace(key, with: value)
    tellChange { [key] }
  }

  /// Removes a key with its value.
  open func removeObject(forKey key: PreferenceKey) {
    storage.replace(key, with: nil)
    tellChange { [key] }
  }

  /// Sets the value of a key to an integer.
  open func set(_ value: Int, forKey key: PreferenceKey) {
    set(value as PreferenceObject?, forKey: key)
  }

  /// Sets the value of a key to a number in single precision.
  open func set(_ value: Float, forKey key: PreferenceKey) {
    set(value as PreferenceObject?, forKey: key)
  }

  /// Sets the value of a key to a number.
  open func set(_ value: Double, forKey key: PreferenceKey) {
    set(value as PreferenceObject?, forKey: key)
  }

  /// Sets the value of a key to a truth value.
  open func set(_ value: Bool, forKey key: PreferenceKey) {
    set(value as PreferenceObject?, forKey: key)
  }

  /// Sets the value of a key to a URL; `nil` removes.
  open func set(_ value: URL?, forKey key: PreferenceKey) {
    set(value as PreferenceObject?, forKey: key)
  }

  /// Sets the value of a key to the archive of an object; `nil` removes.
  open func set(objectToArchive value: PreferenceObject?, forKey key: PreferenceKey) {
    guard let value = unwrapped(value) else { return removeObject(forKey: key) }
    guard let archive = PreferenceArchive.archive(value) else {
      return didRefuse(.unarchivable(key, type(of: value)), forKey: key)
    }
    set(archive as PreferenceObject?, forKey: key)
  }

  /// Removes all keys with their values.
  open func clearAll() {
    let removed = storage.replaceAll(with: [:])
    tellChange { Array(removed.keys) }
  }

  /// Sets the values of several keys at once; other keys stay as they are.
  open func set(dictionary: PreferencesDictionary) {
    let dictionary = withoutNulls(dictionary)
    storage.merge(dictionary)
    tellChange { Array(dictionary.keys) }
  }

  /// Does nothing: preferences in memory keep no failures.
  open func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {}

  /// Is called after each change that a setter made, before observers are told.
  ///
  /// - Parameter keys: Tells the keys; most stores do not ask.
  func didChange(_ keys: () -> [PreferenceKey]) {}

  private func tellChange(_ keys: () -> [PreferenceKey]) {
    didChange(keys)
    storage.observers.tellPosted()
  }
}
