internal import Foundation
internal import Prephirences

/// Reads values from both forms of JSON, and notes what JSON's `null` leaves out.
struct JSONForm {
  /// The places of `null`, such as `servers[2]`.
  private(set) var omitted: [String] = []

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - json: The JSON.
  ///   - place: Where it is, for messages; a key.
  /// - Returns: The value; `nil` for `null`.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/damaged`` if an object is marked with a
  ///   type that its value does not have, or no store holds a number.
  mutating func value(
    of json: JSONValue, at place: String
  ) throws(PreferencesError) -> StoredValue? {
    switch json {
    case .null:
      omitted.append(place)
      return nil
    case .bool(let bool): return .bool(bool)
    case .string(let text): return .string(text)
    case .number(let digits):
      guard let number = Self.number(digits) else {
        throw PreferencesError(.damaged, "a number at '\(place)' is too large or too long")
      }
      return number
    case .array(let elements):
      var values: [StoredValue] = []
      for (index, element) in elements.enumerated() {
        if let value = try value(of: element, at: "\(place)[\(index)]") { values.append(value) }
      }
      return .array(values)
    case .object(let members):
      if members.count == 1, let member = members.first, let tag = JSONTag(name: member.name) {
        return try tagged(member.value, tag, at: place)
      }
      return .dictionary(try dictionary(members, at: place))
    }
  }

  private mutating func dictionary(
    _ members: [JSONValue.Member], at place: String
  ) throws(PreferencesError) -> [String: StoredValue] {
    // Swift compares texts by their meaning, so a dictionary would lose one of two such names.
    guard Set(members.map(\.name)).count == members.count else {
      throw PreferencesError(.damaged, "the object at '\(place)' has a name twice")
    }
    var values: [String: StoredValue] = [:]
    for member in members {
      values[member.name] = try value(of: member.value, at: "\(place).\(member.name)")
    }
    return values
  }

  private mutating func tagged(
    _ json: JSONValue, _ tag: JSONTag, at place: String
  ) throws(PreferencesError) -> StoredValue {
    if tag == .dict, case .object(let members) = json {
      return .dictionary(try dictionary(members, at: place))
    }
    guard let value = Self.scalar(json, tag) else {
      throw PreferencesError(
        .damaged, "the member '$\(tag.rawValue)' at '\(place)' has no value of that type")
    }
    return value
  }

  private static func scalar(_ json: JSONValue, _ tag: JSONTag) -> StoredValue? {
    switch (json, tag) {
    case (.number(let digits), .float), (.string(let digits), .float):
      Float(digits).map(StoredValue.float)
    case (.number(let digits), .double), (.string(let digits), .double):
      Double(digits).map(StoredValue.double)
    case (.string(let text), .data): Data(base64Encoded: text).map(StoredValue.data)
    // A date in a file has a zone.
    case (.string(let text), .date): ExactDateText.parse(text) { _ in nil }.map(StoredValue.date)
    case (.string(let text), .url): URL(string: text).map(StoredValue.url)
    case (.array(let parts), .url): url(parts)
    case (.string(let text), .uuid): UUID(uuidString: text).map(StoredValue.uuid)
    case (.string(let text), .decimal), (.number(let text), .decimal):
      StoredValue.decimal(exactly: text)
    default: nil
    }
  }

  private static func url(_ parts: [JSONValue]) -> StoredValue? {
    guard parts.count == 2, case .string(let relative) = parts[0],
      case .string(let base) = parts[1],
      let base = URL(string: base), let url = URL(string: relative, relativeTo: base)
    else { return nil }
    return .url(url)
  }

  /// Returns the number of its digits: without a fraction and an exponent, a whole one.
  private static func number(_ digits: String) -> StoredValue? {
    if !digits.contains(where: { ".eE".contains($0) }) {
      if let number = Int64(digits) { return .integer(number) }
      if let number = UInt64(digits) { return .unsigned(number) }
      return StoredValue.decimal(exactly: digits)
    }
    return Double(digits).flatMap { $0.isFinite ? .double($0) : nil }
  }
}
