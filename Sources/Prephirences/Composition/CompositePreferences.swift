public import Foundation

/// Several preferences, seen as one.
///
/// ```swift
/// let preferences: CompositePreferences = [fromFile, UserDefaults.standard, defaults]
/// ```
///
/// A key is that of the first preferences that have it, and is converted as they convert it.
open class CompositePreferences: PreferencesType, ExpressibleByArrayLiteral, @unchecked Sendable {
  // Unchecked because the preferences answer for themselves; nothing here changes.

  /// The preferences, in the order in which they are asked.
  public let array: [any PreferencesType]

  /// The preferences that can be changed.
  public let mutableArray: [any MutablePreferencesType]

  /// The preferences that can only be read.
  public let immutableArray: [any PreferencesType]

  /// Makes one of several preferences.
  ///
  /// - Parameter array: The preferences, in the order in which they are asked.
  public init(_ array: [any PreferencesType]) {
    self.array = array
    mutableArray = array.compactMap { $0 as? any MutablePreferencesType }
    immutableArray = array.filter { !($0 is any MutablePreferencesType) }
  }

  /// Makes one of the preferences of an array literal.
  ///
  /// - Parameter elements: The preferences, in the order in which they are asked.
  public required convenience init(arrayLiteral elements: any PreferencesType...) {
    self.init(elements)
  }

  /// Returns the first preferences that have a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The preferences; `nil` if none has it.
  open func preferences(with key: PreferenceKey) -> (any PreferencesType)? {
    array.first { $0.hasObject(forKey: key) }
  }

  /// Returns the first preferences that have a key and can be changed.
  ///
  /// - Parameter key: The key.
  /// - Returns: The preferences; `nil` if none has it.
  open func mutablePreferences(with key: PreferenceKey) -> (any MutablePreferencesType)? {
    mutableArray.first { $0.hasObject(forKey: key) }
  }

  /// Returns the value of a key.
  open func object(forKey key: PreferenceKey) -> PreferenceObject? {
    for preferences in array {
      if let value = preferences.object(forKey: key) { return value }
    }
    return nil
  }

  /// Returns all preferences, of each key those of the first that have it.
  open func dictionary() -> PreferencesDictionary {
    array.reversed().reduce(into: [:]) { all, preferences in
      all.merge(preferences.dictionary()) { $1 }
    }
  }

  /// The value of a key.
  ///
  /// - Parameter key: The key.
  open subscript(key: PreferenceKey) -> PreferenceObject? { object(forKey: key) }

  /// Returns whether a key has a value.
  open func hasObject(forKey key: PreferenceKey) -> Bool { preferences(with: key) != nil }

  /// Returns the text of a key.
  open func string(forKey key: PreferenceKey) -> String? {
    preferences(with: key)?.string(forKey: key)
  }

  /// Returns the array of a key.
  open func array(forKey key: PreferenceKey) -> [PreferenceObject]? {
    preferences(with: key)?.array(forKey: key)
  }

  /// Returns the dictionary of a key.
  open func dictionary(forKey key: PreferenceKey) -> PreferencesDictionary? {
    preferences(with: key)?.dictionary(forKey: key)
  }

  /// Returns the array of strings of a key.
  open func stringArray(forKey key: PreferenceKey) -> [String]? {
    preferences(with: key)?.stringArray(forKey: key)
  }

  /// Returns the integer of a key.
  open func integer(forKey key: PreferenceKey) -> Int {
    preferences(with: key)?.integer(forKey: key) ?? 0
  }

  /// Returns the number of a key, in single precision.
  open func float(forKey key: PreferenceKey) -> Float {
    preferences(with: key)?.float(forKey: key) ?? 0
  }

  /// Returns the number of a key.
  open func double(forKey key: PreferenceKey) -> Double {
    preferences(with: key)?.double(forKey: key) ?? 0
  }

  /// Returns the truth value of a key.
  open func bool(forKey key: PreferenceKey) -> Bool {
    preferences(with: key)?.bool(forKey: key) ?? false
  }

  /// Returns the bytes of a key.
  open func data(forKey key: PreferenceKey) -> Data? {
    preferences(with: key)?.data(forKey: key)
  }

  /// Returns the URL of a key.
  open func url(forKey key: PreferenceKey) -> URL? {
    preferences(with: key)?.url(forKey: key)
  }

  /// Returns the object whose archive is the value of a key.
  open func unarchiveObject(forKey key: PreferenceKey) -> PreferenceObject? {
    preferences(with: key)?.unarchiveObject(forKey: key)
  }
}
