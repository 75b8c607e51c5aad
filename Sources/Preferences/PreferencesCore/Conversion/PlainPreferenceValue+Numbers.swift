package import FoundationEssentials

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
    case let text as String: self = .text(text)
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
