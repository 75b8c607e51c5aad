public import FoundationEssentials

/// A preference value, of any type.
public typealias PreferenceObject = Any

/// The name of a preference.
public typealias PreferenceKey = String

/// Preferences as a dictionary.
public typealias PreferencesDictionary = [PreferenceKey: PreferenceObject]

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
///
/// In a program that imports `Prephirences`, stores on disk return numbers from ``object(forKey:)``
/// as `NSNumber`, so that `as? Int` and `as? Double` both work, and accept objects of Foundation.
/// In a program that links only `PreferencesCore`, numbers are Swift's, so a stored 3 is an `Int`
/// and `as? Double` is `nil`. Objects of Foundation are refused, and none are archived. The typed
/// getters and ``Preference`` convert in both.
@dynamicMemberLookup
public protocol PreferencesType {
  /// Returns the value of a key, or `nil` if there is none.
  func object(forKey key: PreferenceKey) -> PreferenceObject?

  /// Returns all preferences.
  func dictionary() -> PreferencesDictionary

  /// Why a call that does not throw changed or read nothing; `nil` if nothing failed.
  ///
  /// It belongs to the object, on all threads. Preferences that combine others have the failure of
  /// the first member with one. The article on `Prephirences` lists when each store forgets its
  /// failure. The default is `nil`, for a store that records none.
  var lastPreferencesError: PreferencesError? { get }

  /// The value of a key.
  subscript(key: PreferenceKey) -> PreferenceObject? { get }

  /// The value of a key, written as a member.
  subscript(dynamicMember key: PreferenceKey) -> PreferenceObject? { get }

  /// Whether a key has a value.
  func hasObject(forKey key: PreferenceKey) -> Bool

  /// Returns the text of a key, or the text form of a number; `nil` for other values.
  func string(forKey key: PreferenceKey) -> String?

  /// Returns the array of a key, or `nil` if the value is not an array.
  func array(forKey key: PreferenceKey) -> [PreferenceObject]?

  /// Returns the dictionary of a key, or `nil` if the value is not a dictionary.
  func dictionary(forKey key: PreferenceKey) -> PreferencesDictionary?

  /// Returns the strings of a key, or `nil` if the value is not an array of strings.
  func stringArray(forKey key: PreferenceKey) -> [String]?

  /// Returns the value of a key as an integer, or 0 if there is none.
  func integer(forKey key: PreferenceKey) -> Int

  /// Returns the value of a key as a number in single precision, or 0 if there is none.
  func float(forKey key: PreferenceKey) -> Float

  /// Returns the value of a key as a number, or 0 if there is none.
  func double(forKey key: PreferenceKey) -> Double

  /// Returns the truth value of a key.
  ///
  /// - Returns: `true` for a number other than 0, and for text that begins with `Y`, `T` or a digit
  ///   other than 0; `false` for anything else.
  func bool(forKey key: PreferenceKey) -> Bool

  /// Returns the bytes of a key, or `nil` if the value is not data.
  func data(forKey key: PreferenceKey) -> Data?

  /// Returns the URL of a key, unarchived if needed.
  ///
  /// Text with a scheme is read as a URL, other text as a path.
  func url(forKey key: PreferenceKey) -> URL?

  /// Returns the object whose archive is the value of a key, or `nil` if the value is not an
  /// archive.
  func unarchiveObject(forKey key: PreferenceKey) -> PreferenceObject?

  /// Starts notifying an observer of changes; for authors of stores.
  ///
  /// Programs call `observe(forKey:initial:_:)` and its siblings. A mutable store has a
  /// ``PreferenceObservers`` and passes the observer to it; preferences that combine others pass it
  /// on. By default, preferences that are objects are observed by identity and report the changes
  /// passed to `notifyObservers(forKey:from:to:)`; other preferences never change, so the
  /// observation ends after the initial values.
  ///
  /// - Returns: The observation, which ends when it is destroyed.
  func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation
}

extension PreferencesType {
  /// No failure: this store does not record failures.
  public var lastPreferencesError: PreferencesError? { nil }

  /// An alias of ``lastPreferencesError``.
  public var lastError: PreferencesError? { lastPreferencesError }

  /// The value of a key.
  public subscript(key: PreferenceKey) -> PreferenceObject? { object(forKey: key) }

  /// The value of a key, written as a member.
  public subscript(dynamicMember key: PreferenceKey) -> PreferenceObject? { self[key] }

  /// Returns whether a key has a value.
  public func hasObject(forKey key: PreferenceKey) -> Bool { object(forKey: key) != nil }

  /// Returns the text of a key.
  public func string(forKey key: PreferenceKey) -> String? {
    PreferenceText.of(object(forKey: key))
  }

  /// Returns the array of a key.
  public func array(forKey key: PreferenceKey) -> [PreferenceObject]? {
    object(forKey: key) as? [PreferenceObject]
  }

  /// Returns the dictionary of a key.
  public func dictionary(forKey key: PreferenceKey) -> PreferencesDictionary? {
    object(forKey: key) as? PreferencesDictionary
  }

  /// Returns the array of strings of a key.
  public func stringArray(forKey key: PreferenceKey) -> [String]? {
    object(forKey: key) as? [String]
  }

  /// Returns the integer of a key.
  public func integer(forKey key: PreferenceKey) -> Int {
    PreferenceValue(reading: object(forKey: key)).integer
  }

  /// Returns the number of a key, in single precision.
  public func float(forKey key: PreferenceKey) -> Float {
    PreferenceValue(reading: object(forKey: key)).float
  }

  /// Returns the number of a key.
  public func double(forKey key: PreferenceKey) -> Double {
    PreferenceValue(reading: object(forKey: key)).double
  }

  /// Returns the truth value of a key.
  public func bool(forKey key: PreferenceKey) -> Bool {
    PreferenceValue(reading: object(forKey: key)).bool
  }

  /// Returns the bytes of a key.
  public func data(forKey key: PreferenceKey) -> Data? { object(forKey: key) as? Data }

  /// Returns the URL of a key.
  public func url(forKey key: PreferenceKey) -> URL? {
    PreferenceValue(reading: object(forKey: key)).url
  }

  /// Returns the object whose archive is the value of a key.
  public func unarchiveObject(forKey key: PreferenceKey) -> PreferenceObject? {
    data(forKey: key).flatMap(PreferenceArchive.unarchive)
  }
}

extension PreferencesType {
  /// Decodes the JSON data of a key, or another program's property list objects; `nil` without a
  /// value.
  ///
  /// - Throws: `DecodingError` if the value cannot be decoded as this type.
  public func decodable<T: Decodable>(
    _ type: T.Type, forKey key: PreferenceKey, decoder: JSONDecoder = PreferenceCoders.jsonDecoder
  ) throws -> T? {
    guard let stored = data(forKey: key) ?? object(forKey: key) else { return nil }
    return try CodableForm.decode(type, from: stored, decoder: decoder)
  }
}

extension MutablePreferencesType {
  /// Sets the value of a key to the JSON data of a value; `nil` removes the key.
  ///
  /// - Throws: `EncodingError` if the value cannot be encoded; nothing is changed.
  public func set<T: Encodable>(
    encodable value: T?, forKey key: PreferenceKey,
    encoder: JSONEncoder = PreferenceCoders.jsonEncoder
  ) throws {
    self[key] = try value.map(encoder.encode)
  }
}

/// Preferences that can be read and changed.
///
/// A conforming type implements ``set(_:forKey:)-(PreferenceObject?,_)`` and
/// ``removeObject(forKey:)`` in addition to the requirements of ``PreferencesType``; everything
/// else has a default. Setting `nil` removes the key, even if the `nil` is wrapped in an `Any`.
/// Setters are not mutating, because the values are stored elsewhere.
@dynamicMemberLookup
public protocol MutablePreferencesType: PreferencesType {
  /// Sets the value of a key; `nil` removes the key.
  func set(_ value: PreferenceObject?, forKey key: PreferenceKey)

  /// Removes a key and its value, if any.
  func removeObject(forKey key: PreferenceKey)

  /// The value of a key; setting `nil` removes the key.
  subscript(key: PreferenceKey) -> PreferenceObject? { get nonmutating set }

  /// The value of a key, written as a member; setting `nil` removes the key.
  subscript(dynamicMember key: PreferenceKey) -> PreferenceObject? { get nonmutating set }

  /// Sets the value of a key to an integer.
  func set(_ value: Int, forKey key: PreferenceKey)

  /// Sets the value of a key to a number in single precision.
  func set(_ value: Float, forKey key: PreferenceKey)

  /// Sets the value of a key to a number.
  func set(_ value: Double, forKey key: PreferenceKey)

  /// Sets the value of a key to a truth value.
  func set(_ value: Bool, forKey key: PreferenceKey)

  /// Sets the value of a key to a URL; `nil` removes the key.
  func set(_ value: URL?, forKey key: PreferenceKey)

  /// Sets the value of a key to the archive of an object; `nil` removes the key.
  ///
  /// Supported are objects that `NSKeyedArchiver` accepts: `NSCoding` objects, strings, numbers,
  /// dates, URLs, UUIDs, data, and arrays and dictionaries of these. Any other object changes
  /// nothing.
  func set(objectToArchive value: PreferenceObject?, forKey key: PreferenceKey)

  /// Removes all keys and their values.
  func clearAll()

  /// Sets the values of several keys; other keys do not change.
  ///
  /// JSON's null value, `NSNull`, is left out at any depth, because a property list cannot hold it:
  /// its key does not change.
  func set(dictionary: PreferencesDictionary)

  /// Records a value that was refused before it reached the store; for authors of stores and of
  /// transformations.
  ///
  /// A transformation that cannot convert a value does not change the store and calls this, so that
  /// the failure is found with the store's own. A store that records its last failure records this
  /// one; preferences that combine others pass it on. The default does nothing.
  func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey)
}

extension MutablePreferencesType {
  /// The value of a key; setting `nil` removes the key.
  public subscript(key: PreferenceKey) -> PreferenceObject? {
    get { object(forKey: key) }
    nonmutating set {
      if let value = unwrapped(newValue) {
        set(value as PreferenceObject?, forKey: key)
      } else {
        removeObject(forKey: key)
      }
    }
  }

  /// The value of a key, written as a member; setting `nil` removes the key.
  public subscript(dynamicMember key: PreferenceKey) -> PreferenceObject? {
    get { self[key] }
    nonmutating set { self[key] = newValue }
  }

  /// Sets the value of a key to an integer.
  public func set(_ value: Int, forKey key: PreferenceKey) { self[key] = value }

  /// Sets the value of a key to a number in single precision.
  public func set(_ value: Float, forKey key: PreferenceKey) { self[key] = value }

  /// Sets the value of a key to a number.
  public func set(_ value: Double, forKey key: PreferenceKey) { self[key] = value }

  /// Sets the value of a key to a truth value.
  public func set(_ value: Bool, forKey key: PreferenceKey) { self[key] = value }

  /// Sets the value of a key to a URL; `nil` removes the key.
  public func set(_ value: URL?, forKey key: PreferenceKey) { self[key] = value }

  /// Sets the value of a key to the archive of an object; `nil` removes the key.
  public func set(objectToArchive value: PreferenceObject?, forKey key: PreferenceKey) {
    guard let value = unwrapped(value) else { return removeObject(forKey: key) }
    guard let archive = PreferenceArchive.archive(value) else {
      return didRefuse(.unarchivable(key, type(of: value)), forKey: key)
    }
    self[key] = archive
  }

  /// Removes all keys and their values.
  public func clearAll() {
    for key in dictionary().keys { removeObject(forKey: key) }
  }

  /// Sets the values of several keys; other keys do not change.
  public func set(dictionary: PreferencesDictionary) {
    for (key, value) in withoutNulls(dictionary) { self[key] = value }
  }

  /// Does nothing: this store does not record failures.
  public func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {}

  /// Sets the values of several keys, pair by pair; if one list is longer, its excess is ignored.
  public func set(objects: [PreferenceObject], forKeys keys: [PreferenceKey]) {
    set(dictionary: PreferencesDictionary(zip(keys, objects)) { _, last in last })
  }
}
