public import Foundation

/// Preferences that can be read.
///
/// A conforming type gives ``object(forKey:)`` and ``dictionary()``; all else has a default.
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
/// The typed getters convert: numbers as `NSNumber` does (3.7 is the integer 3, and 1 is `true`),
/// text as `UserDefaults` does (`"12abc"` is the integer 12, and `"YES"` is `true`). To see a value
/// as it is, read the object and cast it.
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

  /// The value of a key that is written as a member.
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
  /// - Returns: The text; a number as it is written; `nil` for any other value.
  func string(forKey key: PreferenceKey) -> String?

  /// Returns the array of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The array, or `nil` if the value is none.
  func array(forKey key: PreferenceKey) -> [PreferenceObject]?

  /// Returns the dictionary of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The dictionary, or `nil` if the value is none.
  func dictionary(forKey key: PreferenceKey) -> PreferencesDictionary?

  /// Returns the array of strings of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The strings, or `nil` if the value is no array or has other elements.
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
  /// - Returns: The bytes, or `nil` if the value is something else.
  func data(forKey key: PreferenceKey) -> Data?

  /// Returns the URL of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: A URL, an archived URL, or text: text with a scheme is that URL, any other a path.
  func url(forKey key: PreferenceKey) -> URL?

  /// Returns the object whose archive is the value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The object, or `nil` if the value is no archive.
  func unarchiveObject(forKey key: PreferenceKey) -> PreferenceObject?

  /// Begins to tell changes to an observer; for authors of stores.
  ///
  /// Programs call ``observe(forKey:initial:_:)`` and its siblings. A store that changes keeps a
  /// ``PreferenceObservers`` and hands the observer to it; preferences made of others hand it on to
  /// those. By default, preferences that are an object are observed by identity, and tell what they
  /// give to ``notifyObservers(forKey:from:to:)``; any others never change, and the observation ends
  /// after the initial values.
  ///
  /// - Parameter observer: Who is to be told.
  /// - Returns: Keeps the observation alive.
  func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation
}
