internal import FoundationEssentials
internal import PreferencesCore
internal import PrephirencesCommandLine
internal import PrephirencesSystem

// Values as JSON, in one of two forms. JSON has text, truth values, numbers, arrays and objects. A
// number is whole unless it has a fraction, which may be `.0`.
//
// - The plain form is for other programs: other types become text.
// - The exact form keeps the types: another type becomes an object with one member, whose name is
//   the type after a dollar sign, such as `{"$date": "2027-01-31T12:00:00Z"}`. A dictionary that
//   looks like this becomes the member `$dict` of another one.
extension PreferenceValue {
  var plainJSON: JSONValue {
    switch self {
    case .array(let values): .array(values.map(\.plainJSON))
    case .dictionary(let values): Self.object(values.mapValues(\.plainJSON))
    case .data(let data): .string(data.base64EncodedString())
    default: simpleJSON ?? .string(text)
    }
  }

  var exactJSON: JSONValue {
    switch self {
    case .array(let values): .array(values.map(\.exactJSON))
    case .dictionary(let values):
      values.count == 1 && values.keys.allSatisfy { JSONTag(name: $0) != nil }
        ? JSONTag.dict.around(Self.object(values.mapValues(\.exactJSON)))
        : Self.object(values.mapValues(\.exactJSON))
    case .float(let number):
      JSONTag.float.around(number.isFinite ? .number("\(number)") : .string("\(number)"))
    case .double(let number): simpleJSON ?? JSONTag.double.around(.string("\(number)"))
    case .data(let data): JSONTag.data.around(.string(data.base64EncodedString()))
    case .date: JSONTag.date.around(.string(text))
    case .url(let url):
      JSONTag.url.around(
        url.baseURL.map { .array([.string(url.relativeString), .string($0.absoluteString)]) }
          ?? .string(url.relativeString))
    case .uuid: JSONTag.uuid.around(.string(text))
    case .decimal: JSONTag.decimal.around(.string(text))
    case .string, .bool, .integer, .unsignedInteger: simpleJSON ?? .string(text)
    }
  }

  private static func object(_ members: [String: JSONValue]) -> JSONValue {
    .object(members.map { JSONValue.Member(name: $0.key, value: $0.value) })
  }

  private var simpleJSON: JSONValue? {
    switch self {
    case .string(let text): .string(text)
    case .bool(let bool): .bool(bool)
    case .integer(let number): .number("\(number)")
    case .unsignedInteger(let number): .number("\(number)")
    case .float(let number) where number.isFinite: .number("\(number)")
    case .double(let number) where number.isFinite: .number("\(number)")
    case .decimal(let number) where !number.isNaN: .number(text)
    default: nil
    }
  }
}

/// The types that JSON lacks.
enum JSONTag: String {
  case float, double, data, date, url, uuid, decimal, dict

  /// Parses the tag in a member's name.
  init?(name: String) {
    guard name.hasPrefix("$") else { return nil }
    self.init(rawValue: String(name.dropFirst()))
  }

  /// Returns the object that marks a value with its type.
  func around(_ value: JSONValue) -> JSONValue {
    .object([JSONValue.Member(name: "$" + rawValue, value: value)])
  }
}

/// Reads values from both forms of JSON, and records the omitted `null`s.
struct JSONForm {
  private enum Step {
    case name(String)
    case index(Int)
  }

  /// How many places are named, which limits the length of a message.
  private static let namedPlaces = 100

  /// The places of `null`, such as `servers[2]`; at most the first 100.
  private(set) var omitted: [String] = []
  private var omittedCount = 0

  /// Lists ``omitted``, and how many are not named; `nil` if there are none.
  var omission: String? {
    guard !omitted.isEmpty else { return nil }
    let rest = omittedCount - omitted.count
    return omitted.map { "'\($0)'" }.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  /// The path to the value that is being read.
  ///
  /// It only becomes text for a message: written for each value, a long name around many values
  /// would be copied as often.
  private var path: [Step] = []

  /// Reads a value.
  mutating func value(
    of json: JSONValue, forKey key: String
  ) throws(PreferencesError) -> PreferenceValue? {
    path = []
    return try value(of: json, .name(key))
  }

  private mutating func value(
    of json: JSONValue, _ step: Step
  ) throws(PreferencesError) -> PreferenceValue? {
    path.append(step)
    defer { path.removeLast() }
    switch json {
    case .null:
      omittedCount += 1
      if omittedCount <= Self.namedPlaces { omitted.append(place) }
      return nil
    case .bool(let bool): return .bool(bool)
    case .string(let text): return .string(text)
    case .number(let digits):
      guard let number = Self.number(digits) else {
        throw PreferencesError(.damaged, "a number at '\(place)' is too large or too long")
      }
      return number
    case .array(let elements):
      var values: [PreferenceValue] = []
      for (index, element) in elements.enumerated() {
        if let value = try value(of: element, .index(index)) { values.append(value) }
      }
      return .array(values)
    case .object(let members):
      if members.count == 1, let member = members.first, let tag = JSONTag(name: member.name) {
        return try tagged(member.value, tag)
      }
      return .dictionary(try dictionary(members))
    }
  }

  /// The place of the value, such as `servers[2].host`; long names are shortened.
  private var place: String {
    path.reduce("") { text, step in
      switch step {
      case .index(let index): return text + "[\(index)]"
      case .name(let name):
        let start = String(name.unicodeScalars.prefix(100))
        let shown = start.utf8.count < name.utf8.count ? start + "…" : start
        return text.isEmpty ? shown : text + "." + shown
      }
    }
  }

  private mutating func dictionary(
    _ members: [JSONValue.Member]
  ) throws(PreferencesError) -> [String: PreferenceValue] {
    // Swift compares text by canonical equivalence, so a dictionary would lose one of two such
    // names.
    guard Set(members.map(\.name)).count == members.count else {
      throw PreferencesError(.damaged, "the object at '\(place)' has a name twice")
    }
    var values: [String: PreferenceValue] = [:]
    for member in members {
      values[member.name] = try value(of: member.value, .name(member.name))
    }
    return values
  }

  private mutating func tagged(
    _ json: JSONValue, _ tag: JSONTag
  ) throws(PreferencesError) -> PreferenceValue {
    if tag == .dict, case .object(let members) = json {
      return .dictionary(try dictionary(members))
    }
    guard let value = Self.scalar(json, tag) else {
      throw PreferencesError(
        .damaged, "the member '$\(tag.rawValue)' at '\(place)' has no value of that type")
    }
    return value
  }

  private static func scalar(_ json: JSONValue, _ tag: JSONTag) -> PreferenceValue? {
    switch (json, tag) {
    case (.number(let digits), .float), (.string(let digits), .float):
      PreferenceValue(digits, as: .float) { _ in nil }
    case (.number(let digits), .double), (.string(let digits), .double):
      PreferenceValue(digits, as: .double) { _ in nil }
    case (.string(let text), .data): Data(base64Encoded: text).map { .data($0) }
    // A date in a file has a time zone.
    case (.string(let text), .date): DateText.parseExact(text) { _ in nil }.map { .date($0) }
    case (.string(let text), .url): URL(written: text).map { .url($0) }
    case (.array(let parts), .url): url(parts)
    case (.string(let text), .uuid): UUID(uuidString: text).map { .uuid($0) }
    case (.string(let text), .decimal), (.number(let text), .decimal):
      PreferenceValue.decimal(exactly: text)
    default: nil
    }
  }

  private static func url(_ parts: [JSONValue]) -> PreferenceValue? {
    guard parts.count == 2, case .string(let relative) = parts[0],
      case .string(let base) = parts[1],
      let base = URL(written: base), let url = URL(string: relative, relativeTo: base)
    else { return nil }
    return .url(url)
  }

  /// Returns the number of its digits; without a fraction and an exponent, it is whole.
  private static func number(_ digits: String) -> PreferenceValue? {
    if !digits.contains(where: { ".eE".contains($0) }) {
      if let number = Int64(digits) { return .integer(number) }
      if let number = UInt64(digits) { return .unsignedInteger(number) }
      return PreferenceValue.decimal(exactly: digits)
    }
    return Double(digits).flatMap { $0.isFinite ? .double($0) : nil }
  }
}

extension JSONValue {
  /// Parses text; an error names the line, not the text.
  init(parsing text: String) throws(PreferencesError) {
    do {
      try self.init(reading: text, maximumDepth: PreferenceValue.maximumDepth)
    } catch let error as JSONError {
      throw PreferencesError(
        .damaged, "this is not JSON: line \(error.line(in: text)): \(error.reason)")
    } catch {
      throw PreferencesError(.damaged, "this is not JSON")
    }
  }
}
