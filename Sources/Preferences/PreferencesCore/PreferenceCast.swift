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
  package static func converted(from value: Any) -> URL? { PreferenceConversion(value).url }
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

extension Int: PlainPreferenceValue {}
extension Int8: PlainPreferenceValue {}
extension Int16: PlainPreferenceValue {}
extension Int32: PlainPreferenceValue {}
extension Int64: PlainPreferenceValue {}
extension UInt: PlainPreferenceValue {}
extension UInt8: PlainPreferenceValue {}
extension UInt16: PlainPreferenceValue {}
extension UInt32: PlainPreferenceValue {}
extension UInt64: PlainPreferenceValue {}
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

  /// Returns the nearest number of this type; `nil` if a finite number is too large.
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

  init?(_ value: Any) {
    switch value {
    case let number as any BinaryInteger: self = .integer(number)
    case let number as any BinaryFloatingPoint: self = .real(double(number))
    case let text as any StringProtocol: self = .text(String(text))
    case let number as Decimal: self = .text(number.description)
    case let truth as Bool: self = .integer(truth ? 1 : 0)
    case let object as any BridgedValue:
      guard let value = object.swiftValue, !(value is any BridgedValue) else { return nil }
      self.init(value)
    default: return nil
    }
  }
}

/// Returns a number as a `Double`.
func double(_ number: any BinaryFloatingPoint) -> Double {
  if let number = number as? Double { return number }
  // `CGFloat` stops the process when it is converted as one of its protocols.
  return (number as? any BridgedValue)?.swiftValue as? Double ?? Double(number)
}

/// Converts a preference value to the types that the typed getters return.
///
/// Numbers convert as `NSNumber` does on Apple's systems, text as `UserDefaults` does.
package struct PreferenceConversion {
  private let stored: Any?

  // Each getter tries its own type first, because a check for an optional or a protocol takes
  // longer than the rest of a call. A `RawRepresentable` value, such as a property, is read as its
  // raw value.
  private var value: Any? {
    guard let value = unwrapped(stored) else { return nil }
    let type = type(of: value)
    if type == String.self || type == Int.self || type == Double.self || type == Bool.self
      || type is AnyClass
    {
      return value
    }
    if let text = value as? any StringProtocol { return String(text) }
    return (value as? any RawRepresentable)?.rawValue ?? value
  }

  package init(_ value: Any?) { stored = value }

  package var string: String? {
    if let text = stored as? String { return text }
    let value = value
    return switch value {
    case let text as String: text
    case let value as Bool where isBool: value ? "1" : "0"
    case let number as any LosslessStringConvertible & Numeric: number.description
    case let value as Decimal: value.description
    default: (value as? any BridgedValue)?.numberText
    }
  }

  package var integer: Int {
    if let integer = stored as? Int { return integer }
    let value = value
    return switch value {
    case let text as String: text.leadingInteger
    case let value as any BinaryInteger: Int(truncatingIfNeeded: value)
    case let value as any BinaryFloatingPoint: Self.clamped(PreferencesCore.double(value))
    case let value as Bool where isBool: value ? 1 : 0
    case let value as Decimal: Self.clamped(Self.double(of: value))
    default: bridged.map { PreferenceConversion($0).integer } ?? 0
    }
  }

  package var double: Double {
    if let double = stored as? Double { return double }
    let value = value
    return switch value {
    case let text as String: text.leadingDouble
    case let value as any BinaryInteger: Double(value)
    case let value as any BinaryFloatingPoint: PreferencesCore.double(value)
    case let value as Bool where isBool: value ? 1 : 0
    case let value as Decimal: Self.double(of: value)
    default: bridged.map { PreferenceConversion($0).double } ?? 0
    }
  }

  package var float: Float { stored as? Float ?? Float(double) }

  package var bool: Bool {
    if let truth = stored as? Bool { return truth }
    if let text = value as? String { return text.leadingBool }
    return double != 0
  }

  package var url: URL? {
    switch value {
    case let url as URL: url
    case let archive as Data: MarkedArchive.url(of: archive)
    case let text as String:
      if let url = URL(written: text), url.scheme != nil {
        url
      } else {
        URL(fileURLWithPath: text.expandingTilde)
      }
    default: nil
    }
  }

  /// Whether the value is a truth value and not a number, which a cast from `NSNumber` does not
  /// show.
  private var isBool: Bool { value.map { type(of: $0) == Bool.self } ?? false }

  /// The value of Swift that the object stands for.
  private var bridged: Any? {
    guard let value, type(of: value) is AnyClass else { return nil }
    return (value as? any BridgedValue)?.swiftValue
  }

  private static func double(of number: Decimal) -> Double { Double(number.description) ?? .nan }

  /// Returns the integer towards 0; `nan` becomes 0, and numbers that are too large the largest.
  private static func clamped(_ value: Double) -> Int {
    if value.isNaN { return 0 }
    return Int(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
  }
}

/// The number that text begins with, and the path that it abbreviates, as `NSString` of Foundation
/// reads them; other text is 0 or `false`.
extension String {
  /// The integer at the start of the text; the largest one if the number is larger.
  var leadingInteger: Int {
    var rest = unicodeScalars[...]
    let isNegative = rest.takeSign(skipping: Unicode.Scalar.isSpaceOrNewline)
    let digits = rest.takeDigits()
    guard !digits.isEmpty else { return 0 }
    return Int((isNegative ? "-" : "") + digits) ?? (isNegative ? .min : .max)
  }

  /// The number at the start of the text; 0 if its exponent has no digits.
  var leadingDouble: Double {
    var rest = unicodeScalars[...]
    let isNegative = rest.takeSign(skipping: Unicode.Scalar.isSpace)
    let integer = rest.takeDigits()
    let fraction = rest.take(where: { $0 == "." }) == nil ? "" : rest.takeDigits()
    guard !integer.isEmpty || !fraction.isEmpty else { return 0 }
    var number = "\(isNegative ? "-" : "")\(integer.isEmpty ? "0" : integer)"
    if !fraction.isEmpty { number += ".\(fraction)" }
    if rest.take(where: { $0 == "e" || $0 == "E" }) != nil {
      number += "e" + (rest.take(where: { $0 == "+" || $0 == "-" }).map { String($0) } ?? "")
      number += rest.takeDigits()
    }
    return Double(number) ?? 0
  }

  /// Whether the text begins with `t`, `y` or a number whose first digit other than 0 is one of its
  /// integer part.
  var leadingBool: Bool {
    var rest = self[...]
    func skipSpace() {
      rest = rest.drop { $0.unicodeScalars.allSatisfy(Unicode.Scalar.isSpaceOrNewline) }
    }
    skipSpace()
    if let first = rest.first, "tTyY".contains(first) { return true }
    if let first = rest.first, "+-".contains(first) { rest.removeFirst() }
    skipSpace()
    rest = rest.drop { $0 == "0" }
    skipSpace()
    return rest.first.map { "123456789".contains($0) } ?? false
  }

  /// The path with the home directory in place of `~` or `~user`, and without a slash at the end, as
  /// Foundation expands it; a path without a tilde is unchanged.
  var expandingTilde: String {
    guard first == "~" else { return self }
    let user = dropFirst().prefix { $0 != "/" }
    let files = FileManager.default
    let home =
      user.isEmpty ? files.homeDirectoryForCurrentUser : files.homeDirectory(forUser: String(user))
    let path = home.map { $0.path + dropFirst(1 + user.count) } ?? self
    return path.count > 1 && path.last == "/" ? String(path.dropLast()) : path
  }
}

extension Substring.UnicodeScalarView {
  /// Takes spaces, a sign, and spaces behind it; returns whether the sign is a minus.
  fileprivate mutating func takeSign(skipping isSpace: (Unicode.Scalar) -> Bool) -> Bool {
    self = drop(while: isSpace)
    guard let sign = take(where: { $0 == "+" || $0 == "-" }) else { return false }
    self = drop(while: isSpace)
    return sign == "-"
  }

  fileprivate mutating func take(where condition: (Unicode.Scalar) -> Bool) -> Unicode.Scalar? {
    first.map(condition) == true ? removeFirst() : nil
  }

  fileprivate mutating func takeDigits() -> String {
    let digits = prefix { "0"..."9" ~= $0 }
    self = self[digits.endIndex...]
    return String(digits)
  }
}

extension Unicode.Scalar {
  fileprivate static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "\t" || scalar == "\u{200B}" || scalar.properties.generalCategory == .spaceSeparator
  }

  fileprivate static func isSpaceOrNewline(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\n"..."\r", "\u{85}", "\u{2028}", "\u{2029}": true
    default: isSpace(scalar)
    }
  }
}
