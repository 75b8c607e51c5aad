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
