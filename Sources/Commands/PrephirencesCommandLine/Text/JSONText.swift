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
