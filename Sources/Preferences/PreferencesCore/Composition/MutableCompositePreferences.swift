public import FoundationEssentials
internal import Synchronization

/// Several preferences combined into one, which can be changed.
///
/// ```swift
/// // Read from all, in this order; changes go to the user's defaults.
/// let preferences: MutableCompositePreferences = [fromFile, UserDefaults.standard]
/// ```
///
/// Changes go to the first mutable preferences, even if others have the key. After a key is removed
/// there, it may still have a value in other preferences. If ``affectOnlyFirstMutable`` is `false`,
/// changes go to all mutable preferences.
open class MutableCompositePreferences: CompositePreferences, MutablePreferencesType,
  @unchecked Sendable
{
  // Unchecked like the superclass.

  private let onlyFirst: Atomic<Bool>

  /// Whether changes go to the first mutable preferences only, which is the default, or to all.
  open var affectOnlyFirstMutable: Bool {
    get { onlyFirst.load(ordering: .sequentiallyConsistent) }
    set { onlyFirst.store(newValue, ordering: .sequentiallyConsistent) }
  }

  /// Combines several preferences.
  ///
  /// - Parameters:
  ///   - array: The preferences, in the order of the search.
  ///   - affectOnlyFirstMutable: Whether changes go to the first mutable preferences only, or to
  ///     all.
  public init(_ array: [any PreferencesType], affectOnlyFirstMutable: Bool) {
    onlyFirst = Atomic(affectOnlyFirstMutable)
    super.init(array)
  }

  /// Combines several preferences; changes go to the first mutable ones only.
  ///
  /// - Parameter array: The preferences, in the order of the search.
  public override convenience init(_ array: [any PreferencesType]) {
    self.init(array, affectOnlyFirstMutable: true)
  }

  // Uses indices as the superclass does.
  private func change(_ change: (any MutablePreferencesType) -> Void) {
    let end = affectOnlyFirstMutable ? min(1, mutableArray.count) : mutableArray.count
    for index in 0..<end { change(mutableArray[index]) }
  }

  /// The value of a key; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  open override subscript(key: PreferenceKey) -> PreferenceObject? {
    get { object(forKey: key) }
    set { set(newValue, forKey: key) }
  }

  /// Sets the value of a key; `nil` removes the key.
  open func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    change { $0[key] = value }
  }

  /// Removes a key and its value.
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

  /// Sets the value of a key to a URL; `nil` removes the key.
  open func set(_ value: URL?, forKey key: PreferenceKey) {
    guard let value else { return removeObject(forKey: key) }
    change { $0.set(value, forKey: key) }
  }

  /// Sets the value of a key to the archive of an object; `nil` removes the key.
  open func set(objectToArchive value: PreferenceObject?, forKey key: PreferenceKey) {
    change { $0.set(objectToArchive: value, forKey: key) }
  }

  /// Sets the values of several keys; other keys keep theirs.
  open func set(dictionary: PreferencesDictionary) {
    change { $0.set(dictionary: dictionary) }
  }

  /// Reports a refused value to the preferences that would have been changed.
  open func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    change { $0.didRefuse(error, forKey: key) }
  }

  /// Removes all keys from all mutable preferences.
  open func clearAll() {
    for preferences in mutableArray { preferences.clearAll() }
  }
}
