public import FoundationEssentials

/// Preferences that can be read.
///
/// A conforming type implements ``object(forKey:)`` and ``dictionary()``; everything else has a
/// default.
///
/// ```swift
/// struct Environment: PreferencesType {
///   func object(forKey key: PreferenceKey) -> PreferenceObject? {
///     ProcessInfo.processInfo.environment[key]
///   }
///   func dictionary() -> PreferencesDictionary { ProcessInfo.processInfo.environment }
/// }
///
/// let columns = Environment().integer(forKey: "COLUMNS")
/// ```
///
/// The typed getters convert numbers as `NSNumber` does (3.7 is the integer 3, and 1 is `true`),
/// and text as `UserDefaults` does (`"12abc"` is the integer 12, and `"YES"` is `true`). To avoid
/// conversion, read the object and cast it.
@dynamicMemberLookup
public protocol PreferencesType {
  /// Returns the value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  func object(forKey key: PreferenceKey) -> PreferenceObject?

  /// Returns all preferences.
  ///
  /// - Returns: The values by their keys.
  func dictionary() -> PreferencesDictionary

  /// The value of a key.
  ///
  /// - Parameter key: The key.
  subscript(key: PreferenceKey) -> PreferenceObject? { get }

  /// The value of a key, written as a member.
  ///
  /// - Parameter key: The key.
  subscript(dynamicMember key: PreferenceKey) -> PreferenceObject? { get }

  /// Returns whether a key has a value.
  ///
  /// - Parameter key: The key.
  /// - Returns: `true` if there is a value.
  func hasObject(forKey key: PreferenceKey) -> Bool

  /// Returns the text of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The text, or the text form of a number; `nil` for any other value.
  func string(forKey key: PreferenceKey) -> String?

  /// Returns the array of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The array, or `nil` if the value is not an array.
  func array(forKey key: PreferenceKey) -> [PreferenceObject]?

  /// Returns the dictionary of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The dictionary, or `nil` if the value is not a dictionary.
  func dictionary(forKey key: PreferenceKey) -> PreferencesDictionary?

  /// Returns the array of strings of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The strings, or `nil` if the value is not an array of strings.
  func stringArray(forKey key: PreferenceKey) -> [String]?

  /// Returns the integer of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value as an integer; 0 if there is none.
  func integer(forKey key: PreferenceKey) -> Int

  /// Returns the number of a key, in single precision.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value as a number; 0 if there is none.
  func float(forKey key: PreferenceKey) -> Float

  /// Returns the number of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value as a number; 0 if there is none.
  func double(forKey key: PreferenceKey) -> Double

  /// Returns the truth value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: `true` for a number other than 0, and for text that begins with `Y`, `T` or a digit
  ///   other than 0; `false` for anything else.
  func bool(forKey key: PreferenceKey) -> Bool

  /// Returns the bytes of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The bytes, or `nil` if the value is not data.
  func data(forKey key: PreferenceKey) -> Data?

  /// Returns the URL of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The URL, unarchived if needed. Text with a scheme is read as a URL, other text as a
  ///   path.
  func url(forKey key: PreferenceKey) -> URL?

  /// Returns the object whose archive is the value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The object, or `nil` if the value is not an archive.
  func unarchiveObject(forKey key: PreferenceKey) -> PreferenceObject?

  /// Starts notifying an observer of changes; for authors of stores.
  ///
  /// Programs call ``observe(forKey:initial:_:)`` and its siblings. A mutable store has a
  /// ``PreferenceObservers`` and passes the observer to it; preferences that combine others pass it
  /// on. By default, preferences that are objects are observed by identity and report the changes
  /// passed to ``notifyObservers(forKey:from:to:)``; other preferences never change, so the
  /// observation ends after the initial values.
  ///
  /// - Parameter observer: The observer to notify.
  /// - Returns: The observation; it ends when this object is destroyed.
  func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation
}
