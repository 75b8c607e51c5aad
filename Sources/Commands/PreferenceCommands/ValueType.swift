internal import PreferencesCore

/// The types of values, with the names that users write and read.
enum ValueType: String, CaseIterable, Sendable {
  case string, int, float, double, bool, date, data, url, uuid, decimal, array, dict

  /// The type as part of a sentence.
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

  /// Returns the type with a name, which may also be one of `defaults`.
  static func named(_ name: String) -> ValueType? {
    ValueType(rawValue: name) ?? otherNames[name]
  }

  private static let otherNames: [String: ValueType] = [
    "text": .string, "integer": .int, "boolean": .bool, "dictionary": .dict,
  ]
}

extension PreferenceValue {
  var type: ValueType {
    switch self {
    case .string: .string
    case .bool: .bool
    case .integer, .unsignedInteger: .int
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

  /// Returns the value as another type, or `nil` unless that is a number that holds it exactly.
  func converted(to type: ValueType) -> PreferenceValue? {
    if self.type == type { return self }
    return switch (self, type) {
    case (.float(let number), .double): .double(Double(number))
    case (.float(let number), .int): Self.integer(exactly: Double(number))
    case (.double(let number), .int): Self.integer(exactly: number)
    case (.double(let number), .float): Float(exactly: number).map { .float($0) }
    case (.integer(let number), .double): Double(exactly: number).map { .double($0) }
    case (.integer(let number), .float): Float(exactly: number).map { .float($0) }
    case (.unsignedInteger(let number), .double): Double(exactly: number).map { .double($0) }
    case (.unsignedInteger(let number), .float): Float(exactly: number).map { .float($0) }
    default: nil
    }
  }

  private static func integer(exactly number: Double) -> PreferenceValue? {
    if let number = Int64(exactly: number) { return .integer(number) }
    return UInt64(exactly: number).map { .unsignedInteger($0) }
  }
}

extension PreferenceValue {
  /// The value as commands compare and print it: whatever is not a number is one and the same
  /// `nan`.
  var withOneNaN: PreferenceValue {
    switch self {
    case .float(let number) where number.isNaN: .float(.nan)
    case .double(let number) where number.isNaN: .double(.nan)
    case .array(let values): .array(values.map(\.withOneNaN))
    case .dictionary(let values): .dictionary(values.mapValues(\.withOneNaN))
    default: self
    }
  }
}
