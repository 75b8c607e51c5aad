package import FoundationEssentials

extension PreferenceValue {
  /// Takes an object as the typed getters and casts read it; `nil` if they find nothing in it.
  ///
  /// A raw value stands for its `RawRepresentable`, such as a property, and the nearest `Double`
  /// for a number that no store keeps.
  package init?(reading object: PreferenceObject?) {
    guard let object = unwrapped(object) else { return nil }
    if let value = PreferenceValue(object) {
      self = value
    } else if let representing = object as? any RawRepresentable {
      self.init(reading: representing.rawValue)
    } else if let number = object as? any BinaryInteger {
      self = .double(Double(number))
    } else if let number = object as? any BinaryFloatingPoint {
      self = .double(Double(number))
    } else {
      return nil
    }
  }
}

// What the typed getters return: numbers convert as `NSNumber` does on Apple's systems, text as
// `UserDefaults` does.
extension PreferenceValue? {
  package var integer: Int {
    switch self {
    case .string(let text): text.leadingInteger
    case .integer(let number): Int(truncatingIfNeeded: number)
    case .unsignedInteger(let number): Int(truncatingIfNeeded: number)
    case .bool(let truth): truth ? 1 : 0
    default: Self.clamped(double)
    }
  }

  package var double: Double {
    switch self {
    case .string(let text): text.leadingDouble
    case .integer(let number): Double(number)
    case .unsignedInteger(let number): Double(number)
    case .float(let number): Double(number)
    case .double(let number): number
    case .bool(let truth): truth ? 1 : 0
    case .decimal(let number): Double(number.description) ?? .nan
    case .data, .date, .url, .uuid, .array, .dictionary, nil: 0
    }
  }

  package var float: Float { if case .float(let number) = self { number } else { Float(double) } }

  package var bool: Bool {
    if case .string(let text) = self { text.leadingBool } else { double != 0 }
  }

  package var url: URL? {
    switch self {
    case .url(let url): url
    case .data(let archive): MarkedArchive.url(of: archive)
    case .string(let text):
      if let url = URL(written: text), url.scheme != nil {
        url
      } else {
        URL(fileURLWithPath: text.expandingTilde)
      }
    default: nil
    }
  }

  /// Returns the integer towards 0; `nan` becomes 0, and numbers that are too large the largest.
  private static func clamped(_ value: Double) -> Int {
    if value.isNaN { return 0 }
    return Int(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
  }
}

/// Text of objects, which differs from that of their values: a number of Foundation has its own.
package enum PreferenceText {
  package static func of(_ object: PreferenceObject?) -> String? {
    if let text = object as? String { return text }
    guard let object = unwrapped(object) else { return nil }
    if !(type(of: object) is AnyClass) {
      if let number = object as? any LosslessStringConvertible & Numeric {
        return number.description
      }
    } else if let text = (object as? any BridgedValue)?.numberText {
      return text
    }
    return switch PreferenceValue(reading: object) {
    case .string(let text): text
    case .bool(let truth): truth ? "1" : "0"
    case .decimal(let number): number.description
    case .float(let number): number.description
    case .double(let number): number.description
    case .integer(let number): number.description
    case .unsignedInteger(let number): number.description
    case .data, .date, .url, .uuid, .array, .dictionary, nil: nil
    }
  }
}

/// The number at the start of text, and the path that it abbreviates, as Foundation's `NSString`
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

  /// Whether the text begins with `t`, `y`, or a number whose integer part is not 0.
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

  /// The path with the home directory in place of `~` or `~user`, without a trailing slash, as
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
  /// Takes spaces, a sign, and the spaces after it; returns whether the sign is a minus.
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
