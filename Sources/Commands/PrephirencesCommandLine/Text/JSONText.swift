internal import FoundationEssentials
internal import PrephirencesSystem

/// JSON output: keys in alphabetical order, a newline at the end.
///
/// Characters that control a terminal or are invisible are always escaped, because a file or a pipe
/// may be shown on a terminal later.
package enum JSONText {
  /// The key of an encoder's user information for the mark of names that look equal.
  static let mark = CodingUserInfoKey(rawValue: "mark")

  package static func text(_ value: some Encodable) throws(CommandLineError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(DateText.text(date))
    }
    // A random mark occurs in no name or value.
    let mark = UUID().uuidString
    if let key = Self.mark { encoder.userInfo[key] = mark }
    guard var data = try? encoder.encode(value) else { throw .unencodable }
    while let range = data.firstRange(of: Data(mark.utf8)) { data.removeSubrange(range) }
    return String(decoding: data, as: UTF8.self).visibleInJSON + "\n"
  }
}

extension CommandLineError {
  static let unencodable = CommandLineError(
    ExitCodes.internalFailure, "the answer could not be written as JSON")
}

/// Pairs of names and values as a JSON object, in which names may differ by bytes alone.
package struct JSONObject<Value: Encodable>: Encodable {
  private let pairs: [(name: String, value: Value)]

  /// Creates an object; a name that is given twice, byte for byte, occurs twice.
  package init(_ pairs: [(name: String, value: Value)]) {
    self.pairs = pairs
  }

  /// Encodes each pair under its name.
  ///
  /// The encoder would treat names that Swift considers equal, although their bytes differ, as one
  /// key. All but the first of them get a mark at the end, which ``JSONText`` removes again.
  package func encode(to encoder: any Encoder) throws {
    let mark = JSONText.mark.flatMap { encoder.userInfo[$0] as? String } ?? ""
    var container = encoder.container(keyedBy: Name.self)
    var seen: [String: Int] = [:]
    for (name, value) in pairs {
      let count = seen[name, default: 0]
      seen[name] = count + 1
      let marks = String(repeating: mark, count: count)
      try container.encode(value, forKey: Name(stringValue: name + marks))
    }
  }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
