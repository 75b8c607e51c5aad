public import FoundationEssentials

/// Read-only preferences in memory.
///
/// ```swift
/// let preferences: DictionaryPreferences = ["myKey": "myValue", "bool": true]
/// ```
///
/// It is safe to use from several threads. Keys are compared like Swift strings: canonically
/// equivalent keys are the same key.
///
/// It is `Sendable` because its state is behind a lock; a program that stores values which must not
/// be shared is responsible for them.
open class DictionaryPreferences: PreferencesType, ExpressibleByDictionaryLiteral,
  @unchecked Sendable
{
  /// The name of a preference.
  public typealias Key = PreferenceKey

  /// A preference value, of any type.
  public typealias Value = PreferenceObject

  package let storage: SharedDictionary

  /// Creates preferences from a dictionary.
  ///
  /// - Parameter dictionary: The values by their keys.
  public init(dictionary: PreferencesDictionary) {
    storage = SharedDictionary(dictionary)
  }

  /// Reads preferences from a property list.
  ///
  /// It is `nil` if the file is missing or damaged; ``init(contentsOfFile:)`` reports which.
  ///
  /// - Parameter filePath: The path of the file; its root is a dictionary.
  public init?(filePath: String) {
    guard let file = try? PropertyListFile(path: filePath).read() else { return nil }
    storage = SharedDictionary(file.values)
  }

  /// Creates preferences from the elements of a dictionary literal.
  ///
  /// - Parameter elements: The keys, each once, with their values.
  public required convenience init(dictionaryLiteral elements: (PreferenceKey, PreferenceObject)...)
  {
    self.init(dictionary: PreferencesDictionary(elements) { _, last in last })
  }

  /// Creates preferences from a dictionary.
  ///
  /// - Parameter dictionary: The values by their keys.
  public convenience init(_ dictionary: PreferencesDictionary) {
    self.init(dictionary: dictionary)
  }

  /// Reads preferences from a property list.
  ///
  /// - Parameter path: The path of the file; its root is a dictionary.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/notFound``,
  ///   ``PreferencesError/Code/damaged`` or ``PreferencesError/Code/inputOutput``.
  public convenience init(contentsOfFile path: String) throws(PreferencesError) {
    self.init(dictionary: try PropertyListFile(path: path).read().values)
  }

  /// Copies all values of other preferences.
  ///
  /// - Parameter preferences: The other preferences.
  public convenience init(preferences: any PreferencesType) {
    self.init(dictionary: preferences.dictionary())
  }

  /// Returns the value of a key.
  open func object(forKey key: PreferenceKey) -> PreferenceObject? { storage[key] }

  /// Returns all preferences.
  open func dictionary() -> PreferencesDictionary { storage.all }

  /// The value of a key.
  ///
  /// - Parameter key: The key.
  open subscript(key: PreferenceKey) -> PreferenceObject? { object(forKey: key) }

  /// Returns whether a key has a value.
  open func hasObject(forKey key: PreferenceKey) -> Bool {
    // A subclass may have other objects.
    let type = type(of: self)
    return type == DictionaryPreferences.self || type == MutableDictionaryPreferences.self
      ? storage.contains(key) : object(forKey: key) != nil
  }

  /// Returns the text of a key.
  open func string(forKey key: PreferenceKey) -> String? {
    PreferenceConversion(object(forKey: key)).string
  }

  /// Returns the array of a key.
  open func array(forKey key: PreferenceKey) -> [PreferenceObject]? {
    object(forKey: key) as? [PreferenceObject]
  }

  /// Returns the dictionary of a key.
  open func dictionary(forKey key: PreferenceKey) -> PreferencesDictionary? {
    object(forKey: key) as? PreferencesDictionary
  }

  /// Returns the array of strings of a key.
  open func stringArray(forKey key: PreferenceKey) -> [String]? { object(forKey: key) as? [String] }

  /// Returns the integer of a key.
  open func integer(forKey key: PreferenceKey) -> Int {
    PreferenceConversion(object(forKey: key)).integer
  }

  /// Returns the number of a key, in single precision.
  open func float(forKey key: PreferenceKey) -> Float {
    PreferenceConversion(object(forKey: key)).float
  }

  /// Returns the number of a key.
  open func double(forKey key: PreferenceKey) -> Double {
    PreferenceConversion(object(forKey: key)).double
  }

  /// Returns the truth value of a key.
  open func bool(forKey key: PreferenceKey) -> Bool {
    PreferenceConversion(object(forKey: key)).bool
  }

  /// Returns the bytes of a key.
  open func data(forKey key: PreferenceKey) -> Data? { object(forKey: key) as? Data }

  /// Returns the URL of a key.
  open func url(forKey key: PreferenceKey) -> URL? { PreferenceConversion(object(forKey: key)).url }

  /// Returns the object whose archive is the value of a key.
  open func unarchiveObject(forKey key: PreferenceKey) -> PreferenceObject? {
    data(forKey: key).flatMap(PreferenceArchive.unarchive)
  }

  /// Starts notifying an observer of changes.
  open func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    storage.observers.add(observer, of: self)
  }
}
