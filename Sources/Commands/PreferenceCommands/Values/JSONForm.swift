internal import FoundationEssentials
internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Reads values from both forms of JSON, and notes what JSON's `null` leaves out.
struct JSONForm {
  private enum Step {
    case name(String)
    case index(Int)
  }

  /// The number of places that are named, so that a message does not become longer than a file.
  private static let namedPlaces = 100

  /// The places of `null`, such as `servers[2]`; at most the first 100.
  private(set) var omitted: [String] = []
  private var omittedCount = 0

  /// What ``omitted`` says, and how many are not named; `nil` if there are none.
  var omission: String? {
    guard !omitted.isEmpty else { return nil }
    let rest = omittedCount - omitted.count
    return omitted.map { "'\($0)'" }.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  /// The way to the value that is being read.
  ///
  /// It becomes text only for a message: written down for each value, a long name around many values
  /// would be copied as often.
  private var path: [Step] = []

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - json: The JSON.
  ///   - key: The key, for messages.
  /// - Returns: The value; `nil` for `null`.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/damaged`` if an object is marked with a
  ///   type that its value does not have, or no store holds a number.
  mutating func value(
    of json: JSONValue, forKey key: String
  ) throws(PreferencesError) -> StoredValue? {
    path = []
    return try value(of: json, .name(key))
  }

  private mutating func value(
    of json: JSONValue, _ step: Step
  ) throws(PreferencesError) -> StoredValue? {
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
      var values: [StoredValue] = []
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

  /// Where the value is, such as `servers[2].host`; long names are shortened.
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
  ) throws(PreferencesError) -> [String: StoredValue] {
    // Swift compares texts by their meaning, so a dictionary would lose one of two such names.
    guard Set(members.map(\.name)).count == members.count else {
      throw PreferencesError(.damaged, "the object at '\(place)' has a name twice")
    }
    var values: [String: StoredValue] = [:]
    for member in members {
      values[member.name] = try value(of: member.value, .name(member.name))
    }
    return values
  }

  private mutating func tagged(
    _ json: JSONValue, _ tag: JSONTag
  ) throws(PreferencesError) -> StoredValue {
    if tag == .dict, case .object(let members) = json {
      return .dictionary(try dictionary(members))
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
      StoredValue(digits, kind: .float) { _ in nil }
    case (.number(let digits), .double), (.string(let digits), .double):
      StoredValue(digits, kind: .double) { _ in nil }
    case (.string(let text), .data): Data(base64Encoded: text).map(StoredValue.data)
    // A date in a file has a zone.
    case (.string(let text), .date): DateText.parseExact(text) { _ in nil }.map(StoredValue.date)
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

extension JSONValue {
  /// Reads a text; an error names the line, not the text.
  init(parsing text: String) throws(PreferencesError) {
    do {
      try self.init(reading: text, maximumDepth: StoredValue.maximumDepth)
    } catch let error as JSONError {
      throw PreferencesError(
        .damaged, "this is not JSON: line \(error.line(in: text)): \(error.reason)")
    } catch {
      throw PreferencesError(.damaged, "this is not JSON")
    }
  }
}
