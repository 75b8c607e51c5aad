internal import CryptoPrephirences
internal import Foundation
internal import Testing

/// Uses data that an independent program encrypted: Python with PyNaCl, hashlib and argon2-cffi.
@Suite("The form of encrypted data")
struct FormatVectorTests {
  @Test func aValueUnderAKey() throws {
    let encrypted = Data(
      base64Encoded: """
        UEtDMQBXEenNdgFBD4fnQ3BepF9TZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp72rg7iBZrHWnnviDT2z+PzO4yDF5dRfM\
        S75he4aOPxYuOAxsHJHXGaA==
        """)
    let key = [UInt8](0..<32)
    let cipher = try SecretCipher(key: SecretBytes(copying: key.span.bytes))
    let preferences: MutableDictionaryPreferences = ["token": try #require(encrypted)]
    let value = try preferences.decryptedObject(forKey: "token", withCipher: cipher)
    #expect(value as? String == "hunter2 ☃")
  }

  @Test func aFileUnderAPassphrase() throws {
    let encrypted = Data(
      base64Encoded: """
        UEtQUkVGUzEKUEtDMQEAAAEAAAAAAAIAAAAAAQIDBAUGBwgJCgsMDQ4PY5v24vatikG5b6EdoPcCd2RlZmdoaWprbG1\
        ub3BxcnN0dXZ3eHl6e4+lppRhbxaaHEvcJO+sw9EQVdxlWSqF/RHkwnmiBX3tIj+XLcQqv0w+3XqLv7bD0YAJ/dSnRO\
        MD/sA2aVSVqGTKkQu1LBfX0kdx+5T9M6U=
        """)
    let file = try #require(encrypted)
    try withTemporaryFolder { folder in
      try file.write(to: URL(fileURLWithPath: "\(folder)/file"))
      let preferences = try DictionaryPreferences(
        filePath: "\(folder)/file", withCipher: Ciphers.passphrase())
      #expect(preferences["n"] as? Int == -7)
      let list = preferences.array(forKey: "list")
      #expect(list?.count == 2 && list?.first as? Bool == true && list?.last as? Double == 0.1)
    }
  }
}
