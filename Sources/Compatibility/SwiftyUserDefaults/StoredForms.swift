internal import Foundation
internal import Prephirences

/// Converts values to objects of a property list and back, by their type at run time.
///
/// A dictionary conforms to ``DefaultsSerializable`` with any type of values, so the compiler does
/// not know how to store them.
enum CollectionForm {
  static func object<Value>(for value: Value) throws -> Any {
    if Value.self is any PlainPreferenceValue.Type { return value }
    if let value = value as? any SerializableElements { return try value.objects() }
    if let value = value as? any Encodable { return try EncodedForm.object(for: value) }
    // The store refuses what it cannot hold.
    return value
  }

  static func value<Value>(of object: Any) -> Value? {
    if let value: Value = PreferenceCast.cast(object) { return value }
    if let type = Value.self as? any SerializableElements.Type,
      let value = type.value(of: object) as? Value
    {
      return value
    }
    // A value that is not JSON was cast above; any number would decode as a date.
    if Value.self is any PlainPreferenceValue.Type, !(object is Data) { return nil }
    return EncodedForm.value(of: object)
  }
}

/// A collection whose elements may be stored by bridges.
private protocol SerializableElements {
  func objects() throws -> Any
  static func value(of object: Any) -> Self?
}

extension Dictionary: SerializableElements where Key == String {
  func objects() throws -> Any {
    if Value.self is any Encodable.Type, !(Value.self is any RawRepresentable.Type),
      let encodable = self as? any Encodable
    {
      return try EncodedForm.object(for: encodable)
    }
    guard let type = Value.self as? any DefaultsSerializable.Type else { return self }
    return try compactMapValues { try CollectionElement.object(for: $0, type) }
  }

  static func value(of object: Any) -> [String: Value]? {
    guard let type = Value.self as? any DefaultsSerializable.Type,
      let objects = object as? [String: Any]
    else { return nil }
    var values: [String: Value] = [:]
    for (key, object) in objects {
      guard let value = CollectionElement.value(of: object, type) as? Value else { return nil }
      values[key] = value
    }
    return values
  }
}

extension Array: SerializableElements {
  func objects() throws -> Any { try map(CollectionForm.object(for:)) }

  static func value(of object: Any) -> [Element]? {
    guard let objects = object as? [Any] else { return nil }
    var values: [Element] = []
    for object in objects {
      guard let value: Element = CollectionForm.value(of: object) else { return nil }
      values.append(value)
    }
    return values
  }
}

/// Converts one element by its type's bridge.
private enum CollectionElement {
  static func object<Value: DefaultsSerializable>(
    for value: Any, _ type: Value.Type
  ) throws -> Any? {
    guard let value = value as? Value.T else { return value }
    return try Value._defaults._object(for: value)
  }

  static func value<Value: DefaultsSerializable>(of object: Any, _ type: Value.Type) -> Any? {
    Value._defaults.deserialize(object)
  }
}

/// Converts `Codable` values to what is stored and back.
enum EncodedForm {
  static func object(for value: some Encodable) throws -> Any {
    try Prephirences.jsonEncoder.encode(value)
  }

  /// Returns the value of JSON data or of an object; `nil` if the type cannot be decoded.
  static func value<Value>(of object: Any) -> Value? {
    if let value: Value = PreferenceCast.cast(object) { return value }
    guard let type = Value.self as? any Decodable.Type else { return nil }
    return try? CodableForm.decode(type, from: object, forKey: "") as? Value
  }
}

/// Converts stored objects to numbers.
///
/// A cast from `NSNumber` to a number, or back, takes longer than the rest of a read, so each
/// function looks at the class first.
enum NumberForm {
  /// Returns an integer, without a fraction.
  static func integer(_ object: Any) -> Int? {
    guard let number = number(object) else {
      if let integer = object as? Int { return integer }
      if let text = object as? String { return Int(text) }
      if let truth = object as? Bool { return truth ? 1 : 0 }
      return (object as? NSNumber).flatMap(integer)
    }
    return integer(number)
  }

  private static func integer(_ number: NSNumber) -> Int? {
    switch unsafe UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"):
      Int(exactly: number.doubleValue.rounded(.towardZero))
    case UInt8(ascii: "Q"): Int(exactly: number.uint64Value)
    default: number.intValue
    }
  }

  static func double(_ object: Any) -> Double? {
    if let number = number(object) { return number.doubleValue }
    if let text = object as? String { return Double(text) }
    return (object as? NSNumber)?.doubleValue
  }

  /// Returns a number object, or `nil` for a Swift number.
  private static func number(_ object: Any) -> NSNumber? {
    type(of: object) is AnyClass ? object as? NSNumber : nil
  }
}

/// Converts enumerations and other `RawRepresentable` values to what is stored and back.
enum RawForm {
  static func object<Value: RawRepresentable>(for value: Value) throws -> Any {
    try CollectionForm.object(for: value.rawValue)
  }

  /// Whether objects are raw values of a type, even if no value has them.
  static func areRawValues<Value: RawRepresentable>(_ objects: [Any], of type: Value.Type) -> Bool {
    objects.allSatisfy { object in
      let raw: Value.RawValue? = CollectionForm.value(of: object)
      return raw != nil
    }
  }

  static func value<Value: RawRepresentable>(of object: Any) -> Value? {
    if let raw: Value.RawValue = CollectionForm.value(of: object), let value = Value(rawValue: raw)
    {
      return value
    }
    return EncodedForm.value(of: object)
  }
}
