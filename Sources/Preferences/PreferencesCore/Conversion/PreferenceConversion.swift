package import FoundationEssentials

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
      if let url = URL(string: text), url.scheme != nil {
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
