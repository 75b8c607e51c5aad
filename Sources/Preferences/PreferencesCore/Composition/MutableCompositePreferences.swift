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

/// Combined preferences report the failures of their members.
extension MutableCompositePreferences: FalliblePreferencesType {
  /// Returns the value of a key, from the first preferences that have it.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: The error of the first member that has the key or cannot read it: that member could
  ///   have a value that hides those of the others.
  public func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    // A subclass may read values in its own way.
    guard type(of: self) == MutableCompositePreferences.self else { return object(forKey: key) }
    for preferences in array {
      if let value = try preferences.fetchedObject(forKey: key) { return value }
    }
    return nil
  }

  /// Returns all values; a key's value is from the first preferences that have it.
  ///
  /// - Returns: The values by their keys.
  /// - Throws: The first error of a member.
  public func fetchDictionary() throws -> PreferencesDictionary {
    guard type(of: self) == MutableCompositePreferences.self else { return dictionary() }
    return try array.reversed().reduce(into: [:]) { all, preferences in
      try all.merge(preferences.fetchedDictionary()) { $1 }
    }
  }

  /// Sets the value of a key, in the first mutable preferences or in all.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: The first error of a member; those after it did not change.
  public func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) throws {
    try storeObjects([(key, value)])
  }

  /// Sets the values of several keys, in the first mutable preferences or in all.
  ///
  /// - Parameter values: The keys with their values; `nil` removes the key.
  /// - Throws: The first error of a member; those after it did not change.
  public func storeObjects(
    _ values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws {
    guard type(of: self) == MutableCompositePreferences.self else {
      for (key, value) in values { self[key] = value }
      return
    }
    for preferences in affectOnlyFirstMutable ? Array(mutableArray.prefix(1)) : mutableArray {
      try preferences.replaceObjects(with: values)
    }
  }

  /// Removes all keys from all mutable preferences.
  ///
  /// - Throws: The first error of a member; those after it did not change.
  public func removeAllObjects() throws {
    guard type(of: self) == MutableCompositePreferences.self else { return clearAll() }
    for preferences in mutableArray {
      if let fallible = preferences as? any FalliblePreferencesType {
        try fallible.removeAllObjects()
      } else {
        preferences.clearAll()
      }
    }
  }
}
