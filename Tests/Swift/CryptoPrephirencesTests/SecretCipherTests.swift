internal import CryptoPrephirences
internal import Foundation
internal import Testing

@Suite("Ciphers of a key and of a passphrase")
struct SecretCipherTests {
  private let data = Data("hunter2".utf8)

  @Test(arguments: [Data(), Data([0]), Data(repeating: 1, count: 100_000)])
  func encryptedDataIsDecrypted(data: Data) throws {
    for cipher in [try Ciphers.key(), try Ciphers.passphrase()] {
      let encrypted = try cipher.encrypt(data, authenticating: Data("a".utf8))
      #expect(try cipher.decrypt(encrypted, authenticating: Data("a".utf8)) == data)
      #expect(try cipher.decrypt(cipher.encrypt(data)) == data)
      #expect(try cipher.encrypt(data) != cipher.encrypt(data))
    }
  }

  @Test func aNewCipherOfTheSameSecretDecrypts() throws {
    #expect(try Ciphers.key().decrypt(Ciphers.key().encrypt(data)) == data)
    #expect(try Ciphers.passphrase().decrypt(Ciphers.passphrase().encrypt(data)) == data)
  }

  @Test func wrongSecretIsDistinguishedFromDamage() throws {
    let encrypted = try Ciphers.key(1).encrypt(data)
    #expect(code { _ = try Ciphers.key(2).decrypt(encrypted) } == .wrongKey)
    #expect(code { _ = try Ciphers.passphrase().decrypt(encrypted) } == .wrongKey)
    let guarded = try Ciphers.passphrase("one").encrypt(data)
    #expect(code { _ = try Ciphers.passphrase("two").decrypt(guarded) } == .wrongKey)
    #expect(code { _ = try Ciphers.key().decrypt(guarded) } == .wrongKey)
  }

  @Test func everyChangedByteIsNoticed() throws {
    let cipher = try Ciphers.key()
    let encrypted = try cipher.encrypt(data)
    for index in encrypted.indices {
      var changed = encrypted
      changed[index] ^= 1
      let expected: [CryptoPrephirencesError.Code] =
        switch index {
        case 0..<3: [.notEncrypted]
        case 3: [.unsupported]
        case 4: [.damaged, .wrongKey]
        case 5..<21: [.wrongKey]
        default: [.damaged]
        }
      let found = code { _ = try cipher.decrypt(changed) }
      #expect(found.map(expected.contains) == true, "byte \(index)")
    }
  }

  @Test func truncatedDataIsDamaged() throws {
    for cipher in [try Ciphers.key(), try Ciphers.passphrase()] {
      let encrypted = try cipher.encrypt(data)
      for count in 3..<encrypted.count {
        #expect(code { _ = try cipher.decrypt(encrypted.prefix(count)) } == .damaged)
      }
      #expect(code { _ = try cipher.decrypt(Data()) } == .notEncrypted)
    }
  }

  @Test func anotherContextIsRefused() throws {
    let cipher = try Ciphers.key()
    let encrypted = try cipher.encrypt(data, authenticating: Data("a".utf8))
    #expect(code { _ = try cipher.decrypt(encrypted) } == .damaged)
    #expect(code { _ = try cipher.decrypt(encrypted, authenticating: Data("b".utf8)) } == .damaged)
  }

  @Test func programContextsDifferFromPreferenceContexts() throws {
    let cipher = try Ciphers.key()
    let preferences = MutableDictionaryPreferences()
    preferences["token", .cipher(cipher)] = "secret"
    let value = try #require(preferences.data(forKey: "token"))
    let keyless = try #require(TransformationKey.cipher(cipher).transformedValue("secret") as? Data)
    for guess in ["key:token", "token", "\u{1}token", "", "value", "\u{2}", "file", "\u{3}"] {
      for encrypted in [value, keyless] {
        #expect(
          code { _ = try cipher.decrypt(encrypted, authenticating: Data(guess.utf8)) } == .damaged)
        #expect(code { _ = try cipher.decrypt(encrypted) } == .damaged)
      }
      preferences["token"] = try cipher.encrypt(data, authenticating: Data(guess.utf8))
      let found = code { _ = try preferences.decryptedObject(forKey: "token", withCipher: cipher) }
      #expect(found == .damaged)
    }
    #expect(CipherContext(Data()) != .none)
  }

  @Test func aCipherWithoutContextsGetsThem() throws {
    let cipher = ShiftingCipher()
    let encrypted = try cipher.encrypt(data, authenticating: Data("a".utf8))
    #expect(try cipher.decrypt(encrypted, authenticating: Data("a".utf8)) == data)
    for other in ["b", "", "aa"] {
      #expect(
        code { _ = try cipher.decrypt(encrypted, authenticating: Data(other.utf8)) } == .damaged)
    }
  }

  @Test func aKeyHas32Bytes() {
    #expect(code { _ = try SecretCipher(key: SecretBytes.random(count: 31)) } == .unavailable)
  }

  @Test func costsBeyondTheLimitsAreRefusedOnReading() throws {
    var encrypted = try Ciphers.passphrase().encrypt(data)
    // The memory is stored in 8 bytes after the magic and the kind; this makes it exabytes.
    encrypted[12] = 0x10
    #expect(code { _ = try Ciphers.passphrase().decrypt(encrypted) } == .unavailable)
  }

  @Test func readingRefusesHigherCosts() throws {
    for cost in [(128 << 10, 2), (64 << 10, 3)] as [(memory: UInt64, passes: UInt32)] {
      let costly = SecretCipher(
        passphrase: try SecretBytes(copying: "correct horse"),
        parameters: PasswordHash.Parameters(memory: cost.memory, passes: cost.passes))
      let encrypted = try costly.encrypt(data)
      #expect(code { _ = try Ciphers.passphrase().decrypt(encrypted) } == .unavailable)
    }
  }

  @Test func inventedSaltsAreOnlyTriedAFewTimes() throws {
    let values = try (0..<12).map { _ in try Ciphers.passphrase().encrypt(data) }
    let cipher = try Ciphers.passphrase()
    _ = try cipher.decrypt(values[0])
    for number in UInt8(1)...20 {
      var invented = values[0]
      invented[17] ^= number
      let found = code { _ = try cipher.decrypt(invented) }
      #expect(found == (number <= 8 ? .wrongKey : .unavailable), "\(number)")
      // Trying the same salt again costs nothing.
      invented[17] = values[0][17] ^ 1
      #expect(code { _ = try cipher.decrypt(invented) } == .wrongKey)
    }
    #expect(try cipher.decrypt(values[0]) == data)
    #expect(try cipher.decrypt(cipher.encrypt(data)) == data)
    let other = try Ciphers.passphrase()
    for value in values { #expect(try other.decrypt(value) == data, "right salts don't count") }
  }

  @Test func cipherKeepsUsingTheSaltItRead() throws {
    let first = try Ciphers.passphrase().encrypt(data)
    let cipher = try Ciphers.passphrase()
    _ = try cipher.decrypt(first)
    let second = try cipher.encrypt(data)
    #expect(second[17..<33] == first[17..<33])
    #expect(try Ciphers.passphrase().encrypt(data)[17..<33] != first[17..<33])
  }

  @Test func aCheaperSaltIsReadButNotWritten() throws {
    let cheap = SecretCipher(
      passphrase: try SecretBytes(copying: "correct horse"),
      parameters: PasswordHash.Parameters(memory: 8 << 10, passes: 1))
    let first = try cheap.encrypt(data)
    let cipher = try Ciphers.passphrase()
    #expect(try cipher.decrypt(first) == data)
    let second = try cipher.encrypt(data)
    #expect(second[5..<33] != first[5..<33])
  }

  @Test func threadsShareACipher() async throws {
    let cipher = try Ciphers.passphrase()
    try await withThrowingTaskGroup { group in
      for number in UInt8(0)..<8 {
        group.addTask {
          for _ in 0..<50 {
            let data = Data([number])
            let decrypted = try cipher.decrypt(cipher.encrypt(data))
            #expect(decrypted == data)
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
