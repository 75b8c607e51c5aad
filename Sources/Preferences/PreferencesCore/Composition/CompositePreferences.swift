public import FoundationEssentials

/// Several preferences combined into one.
///
/// ```swift
/// let preferences: CompositePreferences = [fromFile, UserDefaults.standard, defaults]
/// ```
///
/// A key is read from the first preferences that have it, with their conversions.
open class CompositePreferences: PreferencesType, ExpressibleByArrayLiteral, @unchecked Sendable {
  // Unchecked because the preferences guard themselves; this object does not change.

  /// The preferences, in the order of the search.
  public let array: [any PreferencesType]

  /// The preferences that can be changed.
  public let mutableArray: [any MutablePreferencesType]

  /// The preferences that can only be read.
  public let immutableArray: [any PreferencesType]

  /// Combines several preferences.
  ///
  /// - Parameter array: The preferences, in the order of the search.
  public init(_ array: [any PreferencesType]) {
    self.array = array
    mutableArray = array.compactMap { $0 as? any MutablePreferencesType }
    immutableArray = array.filter { !($0 is any MutablePreferencesType) }
  }

  /// Combines the preferences of an array literal.
  ///
  /// - Parameter elements: The preferences, in the order of the search.
  public required convenience init(arrayLiteral elements: any PreferencesType...) {
    self.init(elements)
  }

  // Uses indices because iterating would retain each element.

  /// Returns the index of the first preferences that have a key.
  private final func index(of key: PreferenceKey) -> Int? {
    for index in array.indices where array[index].hasObject(forKey: key) { return index }
    return nil
  }

  /// Returns the index of the preferences that answer for a key: the first that have it, or else
  /// the last, whose answer for a missing key is used.
  private final func index(answering key: PreferenceKey) -> Int? {
    guard let last = array.indices.last else { return nil }
    for index in 0..<last where array[index].hasObject(forKey: key) { return index }
    return last
  }

  /// Returns the first preferences that have a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The preferences; `nil` if none of them have the key.
  public final func preferences(with key: PreferenceKey) -> (any PreferencesType)? {
    index(of: key).map { array[$0] }
  }

  /// Returns the first preferences that have a key and can be changed.
  ///
  /// - Parameter key: The key.
  /// - Returns: The preferences; `nil` if none of them have the key.
  public final func mutablePreferences(with key: PreferenceKey) -> (any MutablePreferencesType)? {
    mutableArray.first { $0.hasObject(forKey: key) }
  }

  /// Returns the value of a key.
  open func object(forKey key: PreferenceKey) -> PreferenceObject? {
    guard let last = array.indices.last else { return nil }
    for index in 0..<last {
      let value = array[index].object(forKey: key)
      if value != nil { return value }
    }
    return array[last].object(forKey: key)
  }

  /// Returns all preferences; a key's value is from the first preferences that have it.
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
  open func hasObject(forKey key: PreferenceKey) -> Bool { index(of: key) != nil }

  /// Returns the text of a key.
  open func string(forKey key: PreferenceKey) -> String? {
    index(answering: key).flatMap { array[$0].string(forKey: key) }
  }

  /// Returns the array of a key.
  open func array(forKey key: PreferenceKey) -> [PreferenceObject]? {
    index(answering: key).flatMap { array[$0].array(forKey: key) }
  }

  /// Returns the dictionary of a key.
  open func dictionary(forKey key: PreferenceKey) -> PreferencesDictionary? {
    index(answering: key).flatMap { array[$0].dictionary(forKey: key) }
  }

  /// Returns the array of strings of a key.
  open func stringArray(forKey key: PreferenceKey) -> [String]? {
    index(answering: key).flatMap { array[$0].stringArray(forKey: key) }
  }

  /// Returns the integer of a key.
  open func integer(forKey key: PreferenceKey) -> Int {
    index(answering: key).map { array[$0].integer(forKey: key) } ?? 0
  }

  /// Returns the number of a key, in single precision.
  open func float(forKey key: PreferenceKey) -> Float {
    index(answering: key).map { array[$0].float(forKey: key) } ?? 0
  }

  /// Returns the number of a key.
  open func double(forKey key: PreferenceKey) -> Double {
    index(answering: key).map { array[$0].double(forKey: key) } ?? 0
  }

  /// Returns the truth value of a key.
  open func bool(forKey key: PreferenceKey) -> Bool {
    index(answering: key).map { array[$0].bool(forKey: key) } ?? false
  }

  /// Returns the bytes of a key.
  open func data(forKey key: PreferenceKey) -> Data? {
    index(answering: key).flatMap { array[$0].data(forKey: key) }
  }

  /// Returns the URL of a key.
  open func url(forKey key: PreferenceKey) -> URL? {
    index(answering: key).flatMap { array[$0].url(forKey: key) }
  }

  /// Returns the object whose archive is the value of a key.
  open func unarchiveObject(forKey key: PreferenceKey) -> PreferenceObject? {
    index(answering: key).flatMap { array[$0].unarchiveObject(forKey: key) }
  }
}

/// A value of combined preferences is from the first ones that have it.
extension CompositePreferences: OwnValuePreferences {
  /// Returns the value of a key if it is the own one of the first preferences that have it.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value; `nil` if there is none, or if it is from elsewhere.
  /// - Throws: The error of the first member that has the key or cannot read it.
  public func fetchOwnObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    for preferences in array {
      // First, since members that combine others report a failure of these only here.
      if let own = try preferences.ownObject(forKey: key) { return own }
      if try preferences.fetchedObject(forKey: key) != nil { return nil }
    }
    return nil
  }
}

/// A value of a proxy is that of the other preferences.
extension ProxyPreferences: OwnValuePreferences {
  /// Returns the value of a key if it is an own one of the other preferences.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value; `nil` if there is none, or if it is from elsewhere.
  /// - Throws: The error of the other preferences.
  public func fetchOwnObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    try preferences.ownObject(forKey: full(key))
  }
}
