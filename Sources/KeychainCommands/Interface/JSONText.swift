internal import Foundation
internal import KeychainCredentials

/// Answers as JSON: keys in alphabetical order, a newline at the end.
///
/// What a terminal would act on or not show is escaped wherever the text goes: it says the same, and a
/// file or a pipe may end on a terminal later.
enum JSONText {
  static func text(_ value: some Encodable) throws(KeychainError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(DateText.text(date))
    }
    // A mark that is made anew each time is in no name and in no value.
    let mark = UUID().uuidString
    if let key = AttributesJSON.mark { encoder.userInfo[key] = mark }
    guard var data = try? encoder.encode(value) else { throw .unencodable() }
    while let range = data.range(of: Data(mark.utf8)) { data.removeSubrange(range) }
    return String(decoding: data, as: UTF8.self).visibleInJSON + "\n"
  }
}
