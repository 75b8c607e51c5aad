public import Foundation

/// A keyed coder as preferences: a decoder can be read, an encoder can be written.
///
/// ```swift
/// required init?(coder: NSCoder) {
///   count = coder["count"] as? Int ?? 0
/// }
///
/// func encode(with coder: NSCoder) {
///   coder["count"] = count
/// }
/// ```
///
/// Numbers are encoded like `encode(_:forKey:)` does for their type, so that
/// `decodeInteger(forKey:)` and its siblings read them; a second key with the prefix
/// `PrephirencesKind.` records their type. A value that cannot be archived is not encoded,
/// `removeObject(forKey:)` encodes `nil`, and ``dictionary()`` is empty, because a coder does not
/// list its keys. A number that was encoded by `encode(_:forKey:)` itself has no object, but the
/// getter of its type finds it.
extension NSCoder: MutablePreferencesType {
  private enum Kind: Int {
    case object, bool, integer, double, float

    static func key(beside key: PreferenceKey) -> String { "PrephirencesKind.\(key)" }
  }

  // Calling a decoder's methods on an encoder, or the reverse, stops the process.
  private var isDecoder: Bool { allowsKeyedCoding && !(self is NSKeyedArchiver) }
  private var isEncoder: Bool { allowsKeyedCoding && !(self is NSKeyedUnarchiver) }

  /// Returns the value of a key.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    guard hasObject(forKey: key) else { return nil }
    switch Kind(rawValue: decodeInteger(forKey: Kind.key(beside: key))) {
    case .bool: return decodeBool(forKey: key)
    case .integer: return decodeInteger(forKey: key)
    case .double: return decodeDouble(forKey: key)
    case .float: return decodeFloat(forKey: key)
    case .object, nil: return unwrapped(decodeObject(forKey: key))
    }
  }

  /// Returns an empty dictionary, because a coder does not list its keys.
  public func dictionary() -> PreferencesDictionary { [:] }

  /// Returns whether a key was encoded, even if as `nil`.
  public func hasObject(forKey key: PreferenceKey) -> Bool {
    isDecoder && containsValue(forKey: key)
  }

  /// Returns the integer of a key.
  public func integer(forKey key: PreferenceKey) -> Int {
    hasKind(key)
      ? PreferenceConversion(object(forKey: key)).integer : native(key, decodeInteger) ?? 0
  }

  /// Returns the number of a key, in single precision.
  public func float(forKey key: PreferenceKey) -> Float {
    hasKind(key) ? PreferenceConversion(object(forKey: key)).float : native(key, decodeFloat) ?? 0
  }

  /// Returns the number of a key.
  public func double(forKey key: PreferenceKey) -> Double {
    hasKind(key) ? PreferenceConversion(object(forKey: key)).double : native(key, decodeDouble) ?? 0
  }

  /// Returns the truth value of a key.
  public func bool(forKey key: PreferenceKey) -> Bool {
    hasKind(key) ? PreferenceConversion(object(forKey: key)).bool : native(key, decodeBool) ?? false
  }

  private func hasKind(_ key: PreferenceKey) -> Bool {
    hasObject(forKey: Kind.key(beside: key))
  }

  private func native<Value>(_ key: PreferenceKey, _ decode: (String) -> Value) -> Value? {
    hasObject(forKey: key) ? decode(key) : nil
  }

  /// Encodes the value of a key; a value that cannot be archived is not encoded.
  public func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    guard isEncoder else { return }
    switch unwrapped(value) {
    case nil: encode(nil as Any?, key, .object)
    case let value as Bool where type(of: value) == Bool.self:
      encode(value, forKey: key)
      encode(Kind.bool.rawValue, forKey: Kind.key(beside: key))
    case let value as Int: set(value, forKey: key)
    case let value as Double: set(value, forKey: key)
    case let value as Float: set(value, forKey: key)
    case let value?:
      guard let object = PreferenceArchive.object(toArchive: value) else { return }
      encode(object, key, .object)
    }
  }

  private func encode(_ object: Any?, _ key: PreferenceKey, _ kind: Kind) {
    encode(object, forKey: key)
    encode(kind.rawValue, forKey: Kind.key(beside: key))
  }

  /// Encodes an integer.
  public func set(_ value: Int, forKey key: PreferenceKey) {
    guard isEncoder else { return }
    encode(value, forKey: key)
    encode(Kind.integer.rawValue, forKey: Kind.key(beside: key))
  }

  /// Encodes a number in single precision.
  public func set(_ value: Float, forKey key: PreferenceKey) {
    guard isEncoder else { return }
    encode(value, forKey: key)
    encode(Kind.float.rawValue, forKey: Kind.key(beside: key))
  }

  /// Encodes a number.
  public func set(_ value: Double, forKey key: PreferenceKey) {
    guard isEncoder else { return }
    encode(value, forKey: key)
    encode(Kind.double.rawValue, forKey: Kind.key(beside: key))
  }

  /// Encodes `nil` for a key.
  public func removeObject(forKey key: PreferenceKey) {
    guard isEncoder else { return }
    encode(nil as Any?, key, .object)
  }
}
