public import FoundationEssentials
public import PreferencesCore

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

  /// Creates a key with a name.
  public required init(rawValue: PreferenceKey) {
    self.rawValue = rawValue
  }
}

// Unchecked because subclasses are responsible for their own state.
extension PreferenceSerializable: @unchecked Sendable {}

/// A type of the values of ``PreferenceSerializable`` keys.
public protocol TypedKeyValue {
  /// Returns the value of a key, with the typed getter if there is one, so that numbers convert.
  static func preferenceValue(forKey key: PreferenceKey, in preferences: any PreferencesType)
    -> Self?
}

/// A type with an empty value, which is read where there is none.
public protocol EmptyTypedKeyValue: TypedKeyValue {
  /// Creates the empty value.
  init()
}

extension String: EmptyTypedKeyValue {
  /// Returns the text of a key.
  public static func preferenceValue(forKey key: PreferenceKey, in preferences: any PreferencesType)
    -> Self?
  {
    preferences.string(forKey: key)
  }
}

extension Int: EmptyTypedKeyValue {
  /// Returns the integer of a key.
  public static func preferenceValue(forKey key: PreferenceKey, in preferences: any PreferencesType)
    -> Self?
  {
    preferences.hasObject(forKey: key) ? preferences.integer(forKey: key) : nil
  }
}

extension Double: EmptyTypedKeyValue {
  /// Returns the number of a key.
  public static func preferenceValue(forKey key: PreferenceKey, in preferences: any PreferencesType)
    -> Self?
  {
    preferences.hasObject(forKey: key) ? preferences.double(forKey: key) : nil
  }
}

extension Bool: EmptyTypedKeyValue {
  /// Returns the truth value of a key.
  public static func preferenceValue(forKey key: PreferenceKey, in preferences: any PreferencesType)
    -> Self?
  {
    preferences.hasObject(forKey: key) ? preferences.bool(forKey: key) : nil
  }
}

extension Data: EmptyTypedKeyValue {
  /// Returns the bytes of a key.
  public static func preferenceValue(forKey key: PreferenceKey, in preferences: any PreferencesType)
    -> Self?
  {
    preferences.data(forKey: key)
  }
}

extension Date: TypedKeyValue {
  /// Returns the date of a key.
  public static func preferenceValue(forKey key: PreferenceKey, in preferences: any PreferencesType)
    -> Self?
  {
    preferences.object(forKey: key) as? Date
  }
}

extension URL: TypedKeyValue {
  /// Returns the URL of a key.
  public static func preferenceValue(forKey key: PreferenceKey, in preferences: any PreferencesType)
    -> Self?
  {
    preferences.url(forKey: key)
  }
}

extension Dictionary: TypedKeyValue, EmptyTypedKeyValue where Key == String, Value == Any {
  /// Returns the dictionary of a key.
  public static func preferenceValue(forKey key: PreferenceKey, in preferences: any PreferencesType)
    -> Self?
  {
    preferences.dictionary(forKey: key)
  }
}

extension Array: TypedKeyValue, EmptyTypedKeyValue where Element == Any {
  /// Returns the array of a key.
  public static func preferenceValue(forKey key: PreferenceKey, in preferences: any PreferencesType)
    -> Self?
  {
    preferences.array(forKey: key)
  }
}

extension MutablePreferencesType {
  /// The value of a key; setting `nil` removes the key.
  public subscript<Value: TypedKeyValue>(key: PreferenceSerializable<Value?>) -> Value? {
    get { Value.preferenceValue(forKey: key.rawValue, in: self) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The value of a key, or the empty value.
  public subscript<Value: EmptyTypedKeyValue>(key: PreferenceSerializable<Value>) -> Value {
    get { Value.preferenceValue(forKey: key.rawValue, in: self) ?? Value() }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The value of a key, of any type; setting `nil` removes the key.
  public subscript(key: PreferenceSerializable<PreferenceObject?>) -> PreferenceObject? {
    get { object(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
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
