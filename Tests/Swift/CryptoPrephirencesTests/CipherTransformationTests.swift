internal import CryptoPrephirences
internal import Foundation
internal import Testing

@Suite("Encryption of single values")
struct CipherTransformationTests {
  private let preferences = MutableDictionaryPreferences()

  @Test func aValueIsEncryptedForItsKey() throws {
    let cipher = try Ciphers.key()
    preferences["token", .cipher(cipher)] = "hunter2"
    #expect(preferences["token"] is Data)
    #expect(preferences["token", .cipher(cipher)] as? String == "hunter2")
    preferences["other"] = preferences["token"]
    #expect(preferences["other", .cipher(cipher)] == nil)
    preferences["token", .cipher(cipher)] = nil
    #expect(!preferences.hasObject(forKey: "token"))
  }

  @Test func aPreferenceIsEncrypted() throws {
    let preference: MutablePreference<Int> = preferences.preference(forKey: "count")
    preference.transformation = TransformationKey.cipher(try Ciphers.key())
    preference.value = 3
    #expect(preferences["count"] is Data && preference.value == 3)
    preferences["count"] = 4
    #expect(preference.value == nil, "a value that is not encrypted is nobody's")
  }

  @Test func itComposes() throws {
    let cipher = try Ciphers.key()
    let both = TransformationKey.compose(transformations: [
      TransformationKey.cipher(cipher), TransformationKey.codable(Theme.self),
    ])
    let theme = Theme(name: "dark", scale: 2)
    preferences["theme", both] = theme
    #expect(preferences["theme", both] as? Theme == theme)
    preferences["other"] = preferences["theme"]
    #expect(preferences["other", both] == nil)
  }

  @Test func privateTypeIsReadIfNamed() throws {
    let preference: MutablePreference<Hidden> = preferences.preference(forKey: "hidden")
    preference.transformation = TransformationKey.cipher(try Ciphers.key())
    preference.value = Hidden(x: 1)
    #expect(preference.value == Hidden(x: 1))
  }

  private struct Hidden: Codable, Equatable { var x: Int }

  @Test func oneTransformationWithoutKeyReadsWhatItWrote() throws {
    let transformation = TransformationKey.cipher(try Ciphers.key())
    let stored = transformation.transformedValue("text")
    #expect(stored is Data)
    #expect(transformation.reverseTransformedValue(stored) as? String == "text")
    #expect(transformation.reverseTransformedValue("text") == nil)
    #expect(transformation.transformedValue(nil) == nil)
  }

  @Test func anyPreferencesTakeACipher() throws {
    let cipher = try Ciphers.key()
    preferences.set("v", forKey: "k", withCipher: cipher)
    #expect(preferences.object(forKey: "k", withCipher: cipher) as? String == "v")
    let other = try Ciphers.key(1)
    #expect(preferences.object(forKey: "k", withCipher: other) == nil)
    #expect(
      code { _ = try preferences.decryptedObject(forKey: "k", withCipher: Ciphers.key(1)) }
        == .wrongKey)
    preferences.set(nil, forKey: "k", withCipher: cipher)
    #expect(preferences["k"] == nil)
  }

  @Test func archivesOfOtherProgramsAreRead() throws {
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: ["a": 1], requiringSecureCoding: false)
    let cipher = UnboundCipher(ShiftingCipher())
    preferences["k"] = try ShiftingCipher().encrypt(archive)
    let read = preferences["k", .cipher(cipher)] as? [String: Any]
    #expect(read?["a"] as? Int == 1)
    preferences["k"] = try ShiftingCipher().encrypt(Data("garbage".utf8))
    #expect(preferences["k", .cipher(cipher)] == nil)
  }
}
