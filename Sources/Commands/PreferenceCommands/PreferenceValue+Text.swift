internal import FoundationEssentials
internal import PreferencesCore
internal import PrephirencesCommandLine
internal import PrephirencesSystem

// Values as text for shells.
extension PreferenceValue {
  /// The value as text: numbers in decimal digits, dates in ISO 8601, data in hexadecimal digits,
  /// arrays and dictionaries as plain JSON.
  var text: String {
    switch self {
    case .string(let text): text
    case .bool(let bool): bool ? "true" : "false"
    case .integer(let number): "\(number)"
    case .unsignedInteger(let number): "\(number)"
    case .float(let number): "\(number)"
    case .double(let number): "\(number)"
    case .data(let data): [UInt8](data).hexadecimal
    case .date(let date): DateText.exactText(date)
    case .url(let url): url.absoluteString
    case .uuid(let uuid): uuid.uuidString
    case .decimal(let number): number.description
    case .array, .dictionary: plainJSON.lines
    }
  }

  /// The text, with arrays and dictionaries as JSON on one line.
  var line: String {
    switch self {
    case .array, .dictionary: plainJSON.line
    default: text
    }
  }

  /// The bytes of text in UTF-8, of data, or otherwise of the text form.
  var bytes: Data {
    if case .data(let data) = self { return data }
    return Data(text.utf8)
  }

  /// Parses a value of a type, or returns `nil` if the text has none of that type.
  ///
  /// `local` converts a local time, given as if it were UTC, to the real moment. It returns `nil`
  /// if dates need a time zone.
  init?(_ text: String, as type: ValueType, local: (Date) -> Date?) {
    let value: PreferenceValue? =
      switch type {
      case .string: .string(text)
      case .int: Self.integer(text)
      case .float: Self.number(text, Float.self).map { .float($0) }
      case .double: Self.number(text, Double.self).map { .double($0) }
      case .bool: Self.bools[text.lowercased()].map { .bool($0) }
      case .data: Data(hexadecimal: text).map { .data($0) }
      case .date: DateText.parseExact(text, local: local).map { .date($0) }
      case .url: Self.url(text)
      case .uuid: UUID(uuidString: text).map { .uuid($0) }
      case .decimal: Self.decimal(exactly: text)
      case .array, .dict: nil
      }
    guard let value else { return nil }
    self = value
  }

  private static let bools: [String: Bool] = [
    "true": true, "yes": true, "1": true, "on": true,
    "false": false, "no": false, "0": false, "off": false,
  ]

  private static func integer(_ text: String) -> PreferenceValue? {
    if let number = Int64(text) { return .integer(number) }
    return UInt64(text).map { .unsignedInteger($0) }
  }

  /// Returns a number; it must be infinite only if written so, and a whole number must be exact.
  private static func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    _ text: String, _ type: Number.Type
  ) -> Number? {
    let isNamed = text.lowercased().contains("inf")
    if let whole = Int64(text), Number(exactly: whole) == nil { return nil }
    return Number(text).flatMap { $0.isInfinite && !isNamed ? nil : $0 }
  }

  private static func url(_ text: String) -> PreferenceValue? {
    guard !text.isEmpty else { return nil }
    return URL(written: text).map { .url($0) }
  }

  /// Returns a decimal number, or `nil` if it has more digits than `Decimal` keeps.
  static func decimal(exactly text: String) -> PreferenceValue? {
    if text == "NaN" { return .decimal(.nan) }
    guard text.wholeMatch(of: /[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil,
      let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")),
      !number.isNaN, significantDigits(number.description) == significantDigits(text)
    else { return nil }
    return .decimal(number)
  }

  /// Returns the digits of a number without leading and trailing zeros.
  private static func significantDigits(_ number: String) -> String {
    let digits = number.prefix { $0 != "e" && $0 != "E" }.filter(\.isNumber).drop { $0 == "0" }
    return String(digits.reversed().drop { $0 == "0" })
  }
}

extension Data {
  /// Parses hexadecimal digits, which spaces may separate.
  fileprivate init?(hexadecimal text: String) {
    let digits = text.filter { !$0.isWhitespace }.utf8
    guard let bytes = [UInt8](hexadecimal: digits) else { return nil }
    self.init(bytes)
  }
}
