import Foundation
import KeychainCredentials
import KeychainSecrets
import PrephirencesSystem
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

@Suite("Credentials as JSON")
struct CredentialJSONTests {
  @Test func textSecretIsShownAsText() throws {
    let json = try Self.json(secret: Array("geheim é\n".utf8))
    #expect(json["encoding"] as? String == "utf-8")
    #expect(json["secret"] as? String == "geheim é\n")
  }

  @Test func otherSecretIsShownInBase64() throws {
    let json = try Self.json(secret: [0xFF, 0x00, 0x10])
    #expect(json["encoding"] as? String == "base64")
    #expect(json["secret"] as? String == "/wAQ")
  }

  @Test func credentialIsShownWithItsNames() throws {
    let json = try Self.json(secret: nil)
    #expect(json["secret"] == nil && json["encoding"] == nil)
    #expect(json["account"] as? String == "alice")
    #expect(json["service"] as? String == "web")
    #expect(json["expires"] as? String == "2027-01-31T12:00:00Z")
    #expect(json["attributes"] as? [String: String] == ["env": "test"])
    #expect(json["server"] == nil)
  }

  @Test func namesThatOnlyLookEqualAreAllShown() throws {
    let credential = Credential(
      .genericPassword(service: "web", account: "alice"),
      attributes: ["\u{E9}": "one", "e\u{301}": "two"])
    let text = CommandOutput.json(credential).utf8
    for pair in ["\"\u{E9}\" : \"one\"", "\"e\u{301}\" : \"two\""] {
      #expect(Data(text).range(of: Data(pair.utf8)) != nil)
    }
  }

  @Test func jsonSaysTheSameWithEscapes() throws {
    let text = "\u{1B}\u{7F}\u{9B}\u{202E}\u{61C}\u{E0041}\u{2028}\n\t\"\\👩\u{200D}💻"
    let json = CommandOutput.json([text])
    #expect(try JSONDecoder().decode([String].self, from: Data(json.utf8)) == [text])
    #expect(json.contains("\\u007f\\u009b\\u202e\\u061c\\udb40\\udc41\\u2028"))
    #expect(json.hasPrefix("[\n") && json.hasSuffix("\n]\n"))
  }

  @Test func layoutIsThatOfFoundation() throws {
    let texts = (0...0x7F).compactMap { Unicode.Scalar($0) }.map { String($0) } + ["é/\u{1F600}"]
    let object = [
      "aB": [], "ab": [texts], "a10": [[]], "a2": [["x"]], "expired": [], "expires": [],
    ]
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let json = JSONValue.members(object.map { ($0.key, $0.value) })
    #expect(json.linesOfFoundation == String(decoding: try encoder.encode(object), as: UTF8.self))
    #expect(JSONValue.members([]).linesOfFoundation == "{\n\n}")
  }

  private static func json(secret: [UInt8]?) throws -> [String: Any] {
    let credential = Credential(
      .genericPassword(service: "web", account: "alice"),
      expires: Date(timeIntervalSince1970: 1_801_396_800), attributes: ["env": "test"])
    let revealed = secret.map { SecretJSON.members($0.span.bytes) } ?? []
    let text = CommandOutput.json(JSONValue.members(credential.members + revealed))
    #expect(text.hasSuffix("}\n"))
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
    return try #require(object as? [String: Any])
  }
}
