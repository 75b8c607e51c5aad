internal import Foundation
internal import KeychainCredentials

/// JSON output: keys in alphabetical order, a newline at the end.
///
/// Characters that control a terminal or are invisible are always escaped, because a file or a pipe
/// may be shown on a terminal later.
enum JSONText {
  static func text(_ value: some Encodable) throws(KeychainError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(DateText.text(date))
    }
    // A random mark occurs in no name or value.
    let mark = UUID().uuidString
    if let key = AttributesJSON.mark { encoder.userInfo[key] = mark }
    guard var data = try? encoder.encode(value) else { throw .unencodable() }
    while let range = data.range(of: Data(mark.utf8)) { data.removeSubrange(range) }
    return String(decoding: data, as: UTF8.self).visibleInJSON + "\n"
  }
}

/// Attributes as a JSON object.
struct AttributesJSON: Encodable {
  let attributes: CredentialAttributes

  /// The key of an encoder's user information for the mark of names that look equal.
  static let mark = CodingUserInfoKey(rawValue: "mark")

  /// Encodes each pair under its name.
  ///
  /// The encoder would treat names that Swift considers equal, although their bytes differ, as one
  /// key. All but the first of them get a mark at the end, which ``JSONText`` removes again.
  func encode(to encoder: any Encoder) throws {
    let mark = Self.mark.flatMap { encoder.userInfo[$0] as? String } ?? ""
    var container = encoder.container(keyedBy: Name.self)
    var seen: [String: Int] = [:]
    for (name, value) in attributes {
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

extension KeychainError {
  static func unencodable() -> Self {
    Self(.internalFailure, "the answer could not be written as JSON")
  }
}
