public import FoundationEssentials

/// A key that knows the type of its value.
///
/// ```swift
/// extension PreferenceSerializable {
///   static var color: PreferenceSerializable<String?> { .init(rawValue: "color") }
/// }
///
/// preferences[.color] = "red"
/// ```
///
/// For a type that is not optional, a missing value or one of another type reads as the empty
/// value: 0, `false`, or an empty text or collection.
open class PreferenceSerializable<ValueType>: RawRepresentable {
  /// The key.
  public let rawValue: PreferenceKey

  /// Creates a key.
  ///
  /// - Parameter rawValue: The name of the key.
  public required init(rawValue: PreferenceKey) {
    self.rawValue = rawValue
  }
}

// Unchecked because subclasses are responsible for their own state.
extension PreferenceSerializable: @unchecked Sendable {}

// Uses the typed getters, where they exist, so that numbers convert.
extension MutablePreferencesType {
  /// The text of a key; setting `nil` removes the key.
  public subscript(key: PreferenceSerializable<String?>) -> String? {
    get { string(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The text of a key.
  public subscript(key: PreferenceSerializable<String>) -> String {
    get { string(forKey: key.rawValue) ?? "" }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The integer of a key; setting `nil` removes the key.
  public subscript(key: PreferenceSerializable<Int?>) -> Int? {
    get { number(forKey: key, integer) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The integer of a key.
  public subscript(key: PreferenceSerializable<Int>) -> Int {
    get { integer(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The number of a key; setting `nil` removes the key.
  public subscript(key: PreferenceSerializable<Double?>) -> Double? {
    get { number(forKey: key, double) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The number of a key.
  public subscript(key: PreferenceSerializable<Double>) -> Double {
    get { double(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The truth value of a key; setting `nil` removes the key.
  public subscript(key: PreferenceSerializable<Bool?>) -> Bool? {
    get { number(forKey: key, bool) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The truth value of a key.
  public subscript(key: PreferenceSerializable<Bool>) -> Bool {
    get { bool(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The value of a key; setting `nil` removes the key.
  public subscript(key: PreferenceSerializable<PreferenceObject?>) -> PreferenceObject? {
    get { object(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The bytes of a key; setting `nil` removes the key.
  public subscript(key: PreferenceSerializable<Data?>) -> Data? {
    get { data(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The bytes of a key.
  public subscript(key: PreferenceSerializable<Data>) -> Data {
    get { data(forKey: key.rawValue) ?? Data() }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The date of a key; setting `nil` removes the key.
  public subscript(key: PreferenceSerializable<Date?>) -> Date? {
    get { object(forKey: key.rawValue) as? Date }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The URL of a key; setting `nil` removes the key.
  public subscript(key: PreferenceSerializable<URL?>) -> URL? {
    get { url(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The dictionary of a key; setting `nil` removes the key.
  public subscript(key: PreferenceSerializable<PreferencesDictionary?>) -> PreferencesDictionary? {
    get { dictionary(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The dictionary of a key.
  public subscript(key: PreferenceSerializable<PreferencesDictionary>) -> PreferencesDictionary {
    get { dictionary(forKey: key.rawValue) ?? [:] }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The array of a key; setting `nil` removes the key.
  public subscript(key: PreferenceSerializable<[PreferenceObject]?>) -> [PreferenceObject]? {
    get { array(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The array of a key.
  public subscript(key: PreferenceSerializable<[PreferenceObject]>) -> [PreferenceObject] {
    get { array(forKey: key.rawValue) ?? [] }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// Returns the value of a getter that answers 0 or `false` for a missing value.
  private func number<Value>(
    forKey key: PreferenceSerializable<Value?>, _ get: (PreferenceKey) -> Value
  ) -> Value? {
    hasObject(forKey: key.rawValue) ? get(key.rawValue) : nil
  }
}

// A key can be a case of an enumeration with text as raw values:
//
//     enum MyKey: String { case color }
//     preferences.string(forKey: MyKey.color)

extension PreferencesType {
  /// Returns the value of a key given as an enumeration case.
  public func object<Key: RawRepresentable>(
    forKey key: Key
  ) -> PreferenceObject? where Key.RawValue == PreferenceKey { object(forKey: key.rawValue) }

  /// Returns whether a key given as an enumeration case has a value.
  public func hasObject<Key: RawRepresentable>(
    forKey key: Key
  ) -> Bool where Key.RawValue == PreferenceKey { hasObject(forKey: key.rawValue) }

  /// Returns the text of a key given as an enumeration case.
  public func string<Key: RawRepresentable>(
    forKey key: Key
  ) -> String? where Key.RawValue == PreferenceKey { string(forKey: key.rawValue) }

  /// Returns the array of a key given as an enumeration case.
  public func array<Key: RawRepresentable>(
    forKey key: Key
  ) -> [PreferenceObject]? where Key.RawValue == PreferenceKey { array(forKey: key.rawValue) }

  /// Returns the dictionary of a key given as an enumeration case.
  public func dictionary<Key: RawRepresentable>(
    forKey key: Key
  ) -> PreferencesDictionary? where Key.RawValue == PreferenceKey {
    dictionary(forKey: key.rawValue)
  }

  /// Returns the bytes of a key given as an enumeration case.
  public func data<Key: RawRepresentable>(
    forKey key: Key
  ) -> Data? where Key.RawValue == PreferenceKey { data(forKey: key.rawValue) }

  /// Returns the array of strings of a key given as an enumeration case.
  public func stringArray<Key: RawRepresentable>(
    forKey key: Key
  ) -> [String]? where Key.RawValue == PreferenceKey { stringArray(forKey: key.rawValue) }

  /// Returns the integer of a key given as an enumeration case.
  public func integer<Key: RawRepresentable>(
    forKey key: Key
  ) -> Int where Key.RawValue == PreferenceKey { integer(forKey: key.rawValue) }

  /// Returns the number of a key given as an enumeration case, in single precision.
  public func float<Key: RawRepresentable>(
    forKey key: Key
  ) -> Float where Key.RawValue == PreferenceKey { float(forKey: key.rawValue) }

  /// Returns the number of a key given as an enumeration case.
  public func double<Key: RawRepresentable>(
    forKey key: Key
  ) -> Double where Key.RawValue == PreferenceKey { double(forKey: key.rawValue) }

  /// Returns the truth value of a key given as an enumeration case.
  public func bool<Key: RawRepresentable>(
    forKey key: Key
  ) -> Bool where Key.RawValue == PreferenceKey { bool(forKey: key.rawValue) }

  /// Returns the URL of a key given as an enumeration case.
  public func url<Key: RawRepresentable>(
    forKey key: Key
  ) -> URL? where Key.RawValue == PreferenceKey { url(forKey: key.rawValue) }

  /// Returns the enumeration value whose raw value is stored for a key given as an enumeration
  /// case.
  public func rawRepresentable<Value: RawRepresentable, Key: RawRepresentable>(
    forKey key: Key
  ) -> Value? where Key.RawValue == PreferenceKey { rawRepresentable(forKey: key.rawValue) }
}

extension MutablePreferencesType {
  /// Sets the value of a key given as an enumeration case; `nil` removes the key.
  public func set<Key: RawRepresentable>(
    _ value: PreferenceObject?, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key given as an enumeration case to an integer.
  public func set<Key: RawRepresentable>(
    _ value: Int, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key given as an enumeration case to a number in single precision.
  public func set<Key: RawRepresentable>(
    _ value: Float, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key given as an enumeration case to a number.
  public func set<Key: RawRepresentable>(
    _ value: Double, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key given as an enumeration case to a truth value.
  public func set<Key: RawRepresentable>(
    _ value: Bool, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key given as an enumeration case to a URL; `nil` removes the key.
  public func set<Key: RawRepresentable>(
    _ value: URL?, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key given as an enumeration case to the raw value of a value; `nil`
  /// removes the key.
  public func set<Value: RawRepresentable, Key: RawRepresentable>(
    rawValue value: Value?, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(rawValue: value, forKey: key.rawValue) }

  /// Removes a key given as an enumeration case, and its value.
  public func removeObject<Key: RawRepresentable>(
    forKey key: Key
  ) where Key.RawValue == PreferenceKey { removeObject(forKey: key.rawValue) }
}
