package import FoundationEssentials

/// Casts stored values to the requested types.
package enum PreferenceCast {
  /// Returns a value as a type, or `nil` if it is not of that type.
  ///
  /// Converts values where a plain cast fails, if at most the last digits of a fraction are lost;
  /// see ``PlainPreferenceValue``.
  package static func cast<T>(_ value: Any?, to type: T.Type = T.self) -> T? {
    guard let value else { return nil }
    if T.self == Any.self {
      guard let value = unwrapped(value) else { return nil }
      return value as? T
    }
    if let value = value as? T { return value }
    if let value = value as? PreferenceValue { return cast(value.object) }
    // A cast finds the object of a value, but not if its class inherits from the requested one.
    if T.self is AnyClass { return unwrapped(value).flatMap { ($0 as AnyObject) as? T } }
    guard let plain = T.self as? any PlainPreferenceValue.Type, let value = unwrapped(value) else {
      return nil
    }
    if let converted = plain.converted(from: value) as? T { return converted }
    guard let representing = value as? any RawRepresentable else { return nil }
    return cast(representing.rawValue)
  }
}

/// A type that property lists support, or that stores accept unchanged.
package protocol PlainPreferenceValue {
  /// Returns a value of another type as this type, or `nil` if it is not the same value.
  ///
  /// Numbers convert as `NSNumber` does on Apple's systems: the integer 1 equals 1.0 and `true`,
  /// but 3.7 is not an integer, and 300 not a `UInt8`. Text that is a number, as in the environment
  /// and in arguments, converts to that number.
  static func converted(from value: Any) -> Self?
}

extension PlainPreferenceValue {
  package static func converted(from value: Any) -> Self? { nil }
}

extension String: PlainPreferenceValue {}

extension Substring: PlainPreferenceValue {
  package static func converted(from value: Any) -> Substring? {
    (value as? String).map { Substring($0) }
  }
}

extension Date: PlainPreferenceValue {}
extension Data: PlainPreferenceValue {}
extension UUID: PlainPreferenceValue {}

extension URL: PlainPreferenceValue {
  /// Reads URLs like ``PreferencesType/url(forKey:)``.
  package static func converted(from value: Any) -> URL? { PreferenceValue(reading: value).url }
}

extension Optional: PlainPreferenceValue where Wrapped: PlainPreferenceValue {
  package static func converted(from value: Any) -> Wrapped?? {
    PreferenceCast.cast(value, to: Wrapped.self).map { .some($0) }
  }
}

extension Array: PlainPreferenceValue where Element: PlainPreferenceValue {
  package static func converted(from value: Any) -> [Element]? {
    guard let elements = value as? [Any] else { return nil }
    var converted: [Element] = []
    for element in elements {
      guard let element = PreferenceCast.cast(element, to: Element.self) else { return nil }
      converted.append(element)
    }
    return converted
  }
}

extension Dictionary: PlainPreferenceValue
where Key: StringProtocol, Value: PlainPreferenceValue {
  package static func converted(from value: Any) -> [Key: Value]? {
    guard let elements = value as? [String: Any] else { return nil }
    var converted: [Key: Value] = [:]
    for (key, element) in elements {
      guard let element = PreferenceCast.cast(element, to: Value.self) else { return nil }
      converted[Key(decoding: key.utf8, as: UTF8.self)] = element
    }
    return converted
  }
}

extension PreferenceValue: PlainPreferenceValue {
  package static func converted(from value: Any) -> PreferenceValue? { PreferenceValue(value) }
}

extension Int: PlainPreferenceValue {}
extension Int8: PlainPreferenceValue {}
extension Int16: PlainPreferenceValue {}
extension Int32: PlainPreferenceValue {}
extension Int64: PlainPreferenceValue {}
extension Int128: PlainPreferenceValue {}
extension UInt: PlainPreferenceValue {}
extension UInt8: PlainPreferenceValue {}
extension UInt16: PlainPreferenceValue {}
extension UInt32: PlainPreferenceValue {}
extension UInt64: PlainPreferenceValue {}
extension UInt128: PlainPreferenceValue {}
extension Float16: PlainPreferenceValue {}
extension Float: PlainPreferenceValue {}
extension Double: PlainPreferenceValue {}

extension PlainPreferenceValue where Self: FixedWidthInteger {
  package static func converted(from value: Any) -> Self? {
    switch PlainNumber(value) {
    case .integer(let number): Self(exactly: number)
    case .real(let number): Self(exactly: number)
    case .text(let text): Self(text)
    case nil: nil
    }
  }
}

extension PlainPreferenceValue where Self: BinaryFloatingPoint {
  package static func converted(from value: Any) -> Self? {
    switch PlainNumber(value) {
    case .integer(let number): Self(exactly: number)
    case .real(let number): rounded(number)
    case .text(let text): Double(text).flatMap(rounded)
    case nil: nil
    }
  }

  /// Returns the nearest number of this type, or `nil` if a finite number is too large.
  private static func rounded(_ value: Double) -> Self? {
    let rounded = Self(value)
    return rounded.isInfinite && value.isFinite ? nil : rounded
  }
}

extension Bool: PlainPreferenceValue {
  package static func converted(from value: Any) -> Bool? {
    switch PlainNumber(value) {
    case .integer(let number): truth(Double(number))
    case .real(let number): truth(number)
    case .text(let text): words[text.lowercased()]
    case nil: nil
    }
  }

  private static func truth(_ number: Double) -> Bool? {
    number == 0 ? false : number == 1 ? true : nil
  }

  private static let words = [
    "true": true, "yes": true, "1": true, "false": false, "no": false, "0": false,
  ]
}

extension Decimal: PlainPreferenceValue {
  package static func converted(from value: Any) -> Decimal? {
    switch PlainNumber(value) {
    case .integer(let number): Decimal(string: number.description)
    case .real(let number): number.isFinite ? Decimal(string: number.description) : nil
    case .text(let text): Double(text) == nil ? nil : Decimal(string: text)
    case nil: nil
    }
  }
}

/// A number of any type, or text that may be a number.
private enum PlainNumber {
  case integer(any BinaryInteger)
  case real(Double)
  case text(String)

  init?(_ object: Any) {
    if let number = object as? any BinaryInteger {
      self = .integer(number)
      return
    }
    // No object but a number stands for one.
    if type(of: object) is AnyClass, !(object is any BridgedValue) { return nil }
    let value = PreferenceValue(object)
    switch value ?? (object is any BinaryFloatingPoint ? .init(reading: object) : nil) {
    case .integer(let number): self = .integer(number)
    case .unsignedInteger(let number): self = .integer(number)
    case .float(let number): self = .real(Double(number))
    case .double(let number): self = .real(number)
    case .string(let text): self = .text(text)
    case .decimal(let number): self = .text(number.description)
    case .bool(let truth): self = .integer(truth ? 1 : 0)
    case .data, .date, .url, .uuid, .array, .dictionary, nil: return nil
    }
  }
}
