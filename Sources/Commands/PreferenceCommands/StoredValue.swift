internal import FoundationEssentials
internal import PreferencesCore
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// A value of a preference, with the type that it has in the store.
indirect enum StoredValue {
  case string(String)
  case bool(Bool)
  case integer(Int64)
  /// A whole number that is greater than every `Int64`.
  case unsigned(UInt64)
  case float(Float)
  case double(Double)
  case data(Data)
  case date(Date)
  case url(URL)
  case uuid(UUID)
  case decimal(Decimal)
  case array([StoredValue])
  case dictionary([String: StoredValue])

  static let maximumDepth = PropertyListForm.maximumDepth

  /// Takes a value as a store returns it; `nil` if it has a type that stores don't return.
  init?(_ object: Any) {
    guard let object = unwrapped(object) else { return nil }
    // Must precede the casts: a number object also casts to a truth value.
    if let bool = object as? Bool, type(of: object) == Bool.self {
      self = .bool(bool)
      return
    }
    // Number objects have no infinite `Float`.
    if let float = object as? Float, type(of: object) == Float.self {
      self = .float(float.isNaN ? .nan : float)
      return
    }
    switch object {
    case let text as String: self = .string(text)
    case let decimal as Decimal where type(of: object) == Decimal.self: self = .decimal(decimal)
    case let date as Date: self = .date(date)
    case let data as Data: self = .data(data)
    case let url as URL: self = .url(url)
    case let uuid as UUID: self = .uuid(uuid)
    case let array as [Any]:
      let values = array.compactMap(StoredValue.init)
      guard values.count == array.count else { return nil }
      self = .array(values)
    case let dictionary as [String: Any]:
      let values = dictionary.compactMapValues(StoredValue.init)
      guard values.count == dictionary.count else { return nil }
      self = .dictionary(values)
    // A number object casts to every number of Swift that holds it.
    case let bridged as any BridgedValue:
      guard let value = bridged.swiftValue else { return nil }
      self.init(value)
    case let number as any BinaryInteger:
      if let integer = Int64(exactly: number) {
        self = .integer(integer)
      } else if let unsigned = UInt64(exactly: number) {
        self = .unsigned(unsigned)
      } else {
        return nil
      }
    // Every value that is not a number is written "nan".
    case let number as Double: self = .double(number.isNaN ? .nan : number)
    default: return nil
    }
  }

  /// Returns a whole number that is not negative.
  static func whole(_ number: UInt64) -> StoredValue {
    Int64(exactly: number).map(StoredValue.integer) ?? .unsigned(number)
  }

  var object: Any {
    switch self {
    case .string(let text): text
    case .bool(let bool): bool
    // Of the usual width, so that the value reads as every other one of a program.
    case .integer(let number): Int(number)
    case .unsigned(let number): number
    case .float(let number): number
    case .double(let number): number
    case .data(let data): data
    case .date(let date): date
    case .url(let url): url
    case .uuid(let uuid): uuid
    case .decimal(let decimal): decimal
    case .array(let values): values.map(\.object)
    case .dictionary(let values): values.mapValues(\.object)
    }
  }
}

/// The types of values, by the names that users give and read.
enum ValueKind: String, CaseIterable, Sendable {
  case string, int, float, double, bool, date, data, url, uuid, decimal, array, dict

  /// The type in a sentence.
  var phrase: String {
    switch self {
    case .string: "text"
    case .int: "a whole number"
    case .float, .double: "a number"
    case .bool: "a truth value"
    case .date: "a date"
    case .data: "data"
    case .url: "a URL"
    case .uuid: "a UUID"
    case .decimal: "a decimal number"
    case .array: "an array"
    case .dict: "a dictionary"
    }
  }

  /// Returns the type of a name, which may also be one of `defaults`.
  static func named(_ name: String) -> ValueKind? {
    ValueKind(rawValue: name) ?? otherNames[name]
  }

  private static let otherNames: [String: ValueKind] = [
    "text": .string, "integer": .int, "boolean": .bool, "dictionary": .dict,
  ]
}

extension StoredValue {
  /// The type.
  var kind: ValueKind {
    switch self {
    case .string: .string
    case .bool: .bool
    case .integer, .unsigned: .int
    case .float: .float
    case .double: .double
    case .data: .data
    case .date: .date
    case .url: .url
    case .uuid: .uuid
    case .decimal: .decimal
    case .array: .array
    case .dictionary: .dict
    }
  }

  /// Returns the value as another type; `nil` unless that is a number that holds it exactly.
  func converted(to kind: ValueKind) -> StoredValue? {
    if self.kind == kind { return self }
    return switch (self, kind) {
    case (.float(let number), .double): .double(Double(number))
    case (.float(let number), .int): Self.integer(exactly: Double(number))
    case (.double(let number), .int): Self.integer(exactly: number)
    case (.double(let number), .float): Float(exactly: number).map(StoredValue.float)
    case (.integer(let number), .double): Double(exactly: number).map(StoredValue.double)
    case (.integer(let number), .float): Float(exactly: number).map(StoredValue.float)
    case (.unsigned(let number), .double): Double(exactly: number).map(StoredValue.double)
    case (.unsigned(let number), .float): Float(exactly: number).map(StoredValue.float)
    default: nil
    }
  }

  private static func integer(exactly number: Double) -> StoredValue? {
    if let number = Int64(exactly: number) { return .integer(number) }
    return UInt64(exactly: number).map(StoredValue.whole)
  }
}

// Values as text that a shell can use.
extension StoredValue {
  /// The text: as it is, numbers in decimal digits, dates in ISO 8601, data in hexadecimal digits,
  /// arrays and dictionaries as plain JSON.
  var text: String {
    switch self {
    case .string(let text): text
    case .bool(let bool): bool ? "true" : "false"
    case .integer(let number): "\(number)"
    case .unsigned(let number): "\(number)"
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

  /// The text on one line: arrays and dictionaries as JSON on one line.
  var line: String {
    switch self {
    case .array, .dictionary: plainJSON.line
    default: text
    }
  }

  /// The bytes: of text in UTF-8 and of data as they are, otherwise those of the text.
  var bytes: Data {
    if case .data(let data) = self { return data }
    return Data(text.utf8)
  }

  /// Reads a value of a type from text; `nil` if the text has none of that type.
  ///
  /// `local` returns the moment at which local clocks show what clocks in UTC show at a date; `nil` if
  /// dates need a zone.
  init?(_ text: String, kind: ValueKind, local: (Date) -> Date?) {
    let value: StoredValue? =
      switch kind {
      case .string: .string(text)
      case .int: Self.integer(text)
      case .float: Self.number(text, Float.self).map(StoredValue.float)
      case .double: Self.number(text, Double.self).map(StoredValue.double)
      case .bool: Self.bools[text.lowercased()].map(StoredValue.bool)
      case .data: Data(hexadecimal: text).map(StoredValue.data)
      case .date: DateText.parseExact(text, local: local).map(StoredValue.date)
      case .url: Self.url(text)
      case .uuid: UUID(uuidString: text).map(StoredValue.uuid)
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

  private static func integer(_ text: String) -> StoredValue? {
    if let number = Int64(text) { return .integer(number) }
    return UInt64(text).map(StoredValue.whole)
  }

  /// Returns a number; not one that is greater than every other, unless it is written so, and not
  /// another whole number than is written.
  private static func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    _ text: String, _ type: Number.Type
  ) -> Number? {
    let isNamed = text.lowercased().contains("inf")
    if let whole = Int64(text), Number(exactly: whole) == nil { return nil }
    return Number(text).flatMap { $0.isInfinite && !isNamed ? nil : $0 }
  }

  private static func url(_ text: String) -> StoredValue? {
    guard !text.isEmpty else { return nil }
    return URL(written: text).map(StoredValue.url)
  }

  /// Returns a decimal number; `nil` if it has more digits than `Decimal` keeps.
  static func decimal(exactly text: String) -> StoredValue? {
    if text == "NaN" { return .decimal(.nan) }
    guard text.wholeMatch(of: /[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil,
      let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")),
      !number.isNaN, significantDigits(number.description) == significantDigits(text)
    else { return nil }
    return .decimal(number)
  }

  /// Returns the digits of a number without the zeros around them.
  private static func significantDigits(_ number: String) -> String {
    let digits = number.prefix { $0 != "e" && $0 != "E" }.filter(\.isNumber).drop { $0 == "0" }
    return String(digits.reversed().drop { $0 == "0" })
  }
}

extension Data {
  /// Reads hexadecimal digits, between which there may be spaces.
  fileprivate init?(hexadecimal text: String) {
    let digits = text.filter { !$0.isWhitespace }.utf8
    guard let bytes = [UInt8](hexadecimal: digits) else { return nil }
    self.init(bytes)
  }
}
