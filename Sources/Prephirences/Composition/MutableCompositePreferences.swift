public import Foundation
internal import Synchronization

/// Several preferences, seen as one that can be changed.
///
/// ```swift
/// // Read from all, in this order; changes go to the user's defaults.
/// let preferences: MutableCompositePreferences = [fromFile, UserDefaults.standard]
/// ```
///
/// Changes go to the first preferences that can be changed, whichever have the key: a key that was
/// removed there may still have the value of others. With ``affectOnlyFirstMutable`` off they go to
/// all that can be changed.
open class MutableCompositePreferences: CompositePreferences, MutablePreferencesType,
  @unchecked Sendable
{
  // Unchecked as the class above it.

  private let onlyFirst: Mutex<Bool>

  /// Whether only the first preferences that can be changed are, which is usual, or all of them.
  open var affectOnlyFirstMutable: Bool {
    get { onlyFirst.withLock { $0 } }
    set { onlyFirst.withLock { $0 = newValue } }
  }

  /// Makes one of several preferences.
  ///
  /// - Parameters:
  ///   - array: The preferences, in the order in which they are asked.
  ///   - affectOnlyFirstMutable: Whether only the first that can be changed are, or all of them.
  public init(_ array: [any PreferencesType], affectOnlyFirstMutable: Bool) {
    onlyFirst = Mutex(affectOnlyFirstMutable)
    super.init(array)
  }

  /// Makes one of several preferences, of which only the first that can be changed are.
  ///
  /// - Parameter array: The preferences, in the order in which they are asked.
  public override convenience init(_ array: [any PreferencesType]) {
    self.init(array, affectOnlyFirstMutable: true)
  }

  private func change(_ change: (any MutablePreferencesType) -> Void) {
    if affectOnlyFirstMutable {
      mutableArray.first.map(change)
    } else {
      mutableArray.forEach(change)
    }
  }

  /// The value of a key; setting `nil` removes.
  ///
  /// - Parameter key: The key.
  open override subscript(key: PreferenceKey) -> PreferenceObject? {
    get { object(forKey: key) }
    set { set(newValue, forKey: key) }
  }

  /// Sets the value of a key; `nil` removes.
  open func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    change { $0[key] = value }
  }

  /// Removes a key with its value.
  open func removeObject(forKey key: PreferenceKey) {
    change { $0.removeObject(forKey: key) }
  }

  /// Sets the value of a key to an integer.
  open func set(_ value: Int, forKey key: PreferenceKey) {
    change { $0.set(value, forKey: key) }
  }

  /// Sets the value of a key to a number in single precision.
  open func set(_ value: Float, forKey key: PreferenceKey) {
    change { $0.set(value, forKey: key) }
  }

  /// Sets the value of a key to a number.
  open func set(_ value: Double, forKey key: PreferenceKey) {
    change { $0.set(value, forKey: key) }
  }

  /// Sets the value of a key to a truth value.
  open func set(_ value: Bool, forKey key: PreferenceKey) {
    change { $0.set(value, forKey: key) }
  }

  /// Sets the value of a key to a URL; `nil` removes.
  open func set(_ value: URL?, forKey key: PreferenceKey) {
    guard let value else { return removeObject(forKey: key) }
    change { $0.set(value, forKey: key) }
  }

  /// Sets the value of a key to the archive of an object; `nil` removes.
  open func set(objectToArchive value: PreferenceObject?, forKey key: PreferenceKey) {
    change { $0.set(objectToArchive: value, forKey: key) }
  }

  /// Sets the values of several keys; other keys stay as they are.
  open func set(dictionary: PreferencesDictionary) {
    change { $0.set(dictionary: dictionary) }
  }

  /// Tells those that would have been changed why a value was refused.
  open func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    change { $0.didRefuse(error, forKey: key) }
  }

  /// Removes all keys of all preferences that can be changed.
  open func clearAll() {
    for preferences in mutableArray { preferences.clearAll() }
  }
}
