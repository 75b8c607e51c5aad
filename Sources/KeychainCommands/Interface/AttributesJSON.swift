internal import Foundation
internal import KeychainCredentials

/// Attributes as a JSON object shows them.
struct AttributesJSON: Encodable {
  let attributes: CredentialAttributes

  /// Where an encoder's user information has the mark for names that would be taken for others.
  static let mark = CodingUserInfoKey(rawValue: "mark")

  /// Encodes each pair under its name.
  ///
  /// Names that are equal to Swift although their bytes differ would be one key to the encoder. The
  /// second and further ones get a mark at the end, which ``JSONText`` takes out again.
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
