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
