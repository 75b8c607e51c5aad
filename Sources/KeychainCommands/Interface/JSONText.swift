internal import Foundation
internal import KeychainCredentials

/// Answers as JSON: keys in alphabetical order, a newline at the end.
enum JSONText {
  static func text(_ value: some Encodable) throws(KeychainError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(DateText.text(date))
    }
    guard let data = try? encoder.encode(value) else { throw .unencodable() }
    return String(decoding: data, as: UTF8.self) + "\n"
  }
}
