import Foundation
import KeychainCredentials
import KeychainSecrets
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
    let text = try JSONText.text(CredentialJSON(credential)).utf8
    for pair in ["\"\u{E9}\" : \"one\"", "\"e\u{301}\" : \"two\""] {
      #expect(Data(text).range(of: Data(pair.utf8)) != nil)
    }
  }

  private static func json(secret: [UInt8]?) throws -> [String: Any] {
    let credential = Credential(
      .genericPassword(service: "web", account: "alice"),
      expires: Date(timeIntervalSince1970: 1_801_396_800), attributes: ["env": "test"])
    var answer = CredentialJSON(credential)
    if let secret { answer.reveal(secret.span.bytes) }
    let text = try JSONText.text(answer)
    #expect(text.hasSuffix("}\n"))
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
    return try #require(object as? [String: Any])
  }
}
