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
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<String?>) -> String? {
    get { string(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The text of a key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<String>) -> String {
    get { string(forKey: key.rawValue) ?? "" }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The integer of a key; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<Int?>) -> Int? {
    get { number(forKey: key, integer) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The integer of a key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<Int>) -> Int {
    get { integer(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The number of a key; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<Double?>) -> Double? {
    get { number(forKey: key, double) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The number of a key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<Double>) -> Double {
    get { double(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The truth value of a key; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<Bool?>) -> Bool? {
    get { number(forKey: key, bool) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The truth value of a key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<Bool>) -> Bool {
    get { bool(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The value of a key; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<PreferenceObject?>) -> PreferenceObject? {
    get { object(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The bytes of a key; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<Data?>) -> Data? {
    get { data(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The bytes of a key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<Data>) -> Data {
    get { data(forKey: key.rawValue) ?? Data() }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The date of a key; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<Date?>) -> Date? {
    get { object(forKey: key.rawValue) as? Date }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The URL of a key; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<URL?>) -> URL? {
    get { url(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The dictionary of a key; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<PreferencesDictionary?>) -> PreferencesDictionary? {
    get { dictionary(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The dictionary of a key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<PreferencesDictionary>) -> PreferencesDictionary {
    get { dictionary(forKey: key.rawValue) ?? [:] }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The array of a key; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceSerializable<[PreferenceObject]?>) -> [PreferenceObject]? {
    get { array(forKey: key.rawValue) }
    nonmutating set { self[key.rawValue] = newValue }
  }

  /// The array of a key.
  ///
  /// - Parameter key: The key.
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
