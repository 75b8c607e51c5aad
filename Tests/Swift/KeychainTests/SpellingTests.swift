internal import Foundation
internal import Keychain
import Prephirences
internal import Testing

/// Names of the released library, and values that transformations refuse.
@Suite("Other spellings of the keychain")
struct SpellingTests {
  struct Point: Codable {}

  @Test func attributesOfACredential() throws {
    let store = InMemoryCredentialStore()
    let keychain = KeychainPreferences(service: "s", accessGroup: "g", store: store)
    keychain.accessible = .defaultOption
    keychain["k"] = "text"
    let attribute = try #require(keychain.attribute(forKey: "k"))
    #expect(attribute.creationDate == attribute.created)
    #expect(attribute.modificationDate == attribute.modified)
    #expect(attribute.account == "k" && attribute.service == "s" && attribute.server == nil)
    #expect(attribute.accessGroup == "g" && attribute.accessible == .whenUnlocked)
    #expect(keychain.attribute(forKey: "absent") == nil && keychain.lastError == nil)
    let server = KeychainPreferences(server: "example.org", store: store)
    server["k"] = "text"
    let other = try #require(server.attribute(forKey: "k"))
    #expect(other.server == "example.org" && other.service == nil && other.accessGroup == nil)
  }

  @Test func urls() {
    let keychain = KeychainPreferences(service: "s", store: InMemoryCredentialStore())
    let url = URL(string: "https://example.org/a?b")
    keychain.set(url: url, forKey: "k")
    #expect(keychain.url(forKey: "k") == url)
    keychain.set(url: nil, forKey: "k")
    #expect(!keychain.hasObject(forKey: "k"))
  }

  @Test func refusedTransformationIsReported() {
    let keychain = KeychainPreferences(service: "s", store: InMemoryCredentialStore())
    keychain["k"] = "old"
    keychain["k", .archive] = Point()
    #expect(keychain.lastError?.code == .invalidArgument && keychain.lastStatus == errSecParam)
    #expect(keychain.string(forKey: "k") == "old" && keychain.lastError == nil)
  }
}
