package import Foundation

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
    case let value as CGFloat: Double(value).description
    default: number?.stringValue
    }
  }

  package var integer: Int {
    if let integer = stored as? Int { return integer }
    let value = value
    return switch value {
    case let text as String: (text as NSString).integerValue
    case let value as any BinaryInteger: Int(truncatingIfNeeded: value)
    case let value as any BinaryFloatingPoint: Self.clamped(Double(value))
    case let value as Bool where isBool: value ? 1 : 0
    case let value as Decimal: Self.clamped(NSDecimalNumber(decimal: value).doubleValue)
    default: number.map(Self.integer) ?? 0
    }
  }

  package var double: Double {
    if let double = stored as? Double { return double }
    let value = value
    return switch value {
    case let text as String: (text as NSString).doubleValue
    case let value as any BinaryInteger: Double(value)
    case let value as any BinaryFloatingPoint: Double(value)
    case let value as Bool where isBool: value ? 1 : 0
    case let value as Decimal: NSDecimalNumber(decimal: value).doubleValue
    default: number?.doubleValue ?? 0
    }
  }

  package var float: Float { stored as? Float ?? Float(double) }

  package var bool: Bool {
    if let truth = stored as? Bool { return truth }
    if let text = value as? String { return (text as NSString).boolValue }
    return double != 0
  }

  package var url: URL? {
    switch value {
    case let url as URL: url
    case let archive as Data: PreferenceArchive.unarchive(archive) as? URL
    case let text as String:
      if let url = URL(string: text), url.scheme != nil {
        url
      } else {
        URL(fileURLWithPath: (text as NSString).expandingTildeInPath)
      }
    default: nil
    }
  }

  /// Whether the value is a truth value and not a number, which a cast from `NSNumber` does not
  /// show.
  private var isBool: Bool { value.map { type(of: $0) == Bool.self } ?? false }

  /// The value as a number object.
  ///
  /// For an array, this cast would first convert it and all its elements to objects.
  private var number: NSNumber? {
    guard let value, type(of: value) is AnyClass else { return nil }
    return value as? NSNumber
  }

  private static func integer(of number: NSNumber) -> Int {
    let isFloatingPoint = ["d", "f"].contains(unsafe String(cString: number.objCType))
    return isFloatingPoint
      ? clamped(number.doubleValue) : Int(truncatingIfNeeded: number.int64Value)
  }

  /// Returns the integer towards 0; `nan` becomes 0, and numbers that are too large the largest.
  private static func clamped(_ value: Double) -> Int {
    if value.isNaN { return 0 }
    return Int(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
  }
}
