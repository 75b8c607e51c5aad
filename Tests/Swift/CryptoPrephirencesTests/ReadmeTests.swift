internal import CryptoPrephirences
internal import Foundation
internal import Testing

@Suite("What the documents show of encryption")
struct ReadmeTests {
  @Test func valuesStoresAndFiles() throws {
    try withTemporaryFolder { folder in
      let defaults = MutableDictionaryPreferences()
      let cipher = try SecretCipher(
        passphrase: SecretBytes(copying: "correct horse battery staple"))
      defaults["token", .cipher(cipher)] = "secret"
      let token = defaults["token", .cipher(cipher)] as? String
      #expect(token == "secret")
      let secrets = MutableCryptoPrephirences(preferences: defaults, cipher: cipher)
      #expect(secrets["token"] as? String == "secret")
      try secrets.saveTo(filePath: "\(folder)/file", withCipher: cipher)
      let read = try DictionaryPreferences(filePath: "\(folder)/file", withCipher: cipher)
      #expect(read["token"] as? String == "secret")
    }
  }
}
