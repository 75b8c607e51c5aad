internal import CryptoPrephirences
internal import Foundation
internal import Testing

@Suite("Encrypted files")
struct EncryptedFileTests {
  private let values: MutableDictionaryPreferences = [
    "text": "hunter2", "max": Int.max, "float": Float(1.5),
    "date": Date(timeIntervalSince1970: 0.5),
    "nested": ["a": [1, 2.5, Data([3])]],
  ]

  @Test func savedValuesAreLoaded() throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/preferences"
      try values.saveTo(filePath: path, withCipher: Ciphers.passphrase())
      let loaded: MutableDictionaryPreferences = ["other": 1]
      try loaded.loadFrom(filePath: path, withCipher: Ciphers.passphrase())
      #expect(loaded["text"] as? String == "hunter2" && loaded["max"] as? Int == .max)
      #expect(loaded["float"] as? Float == 1.5 && loaded["other"] as? Int == 1)
      #expect(loaded["date"] as? Date == Date(timeIntervalSince1970: 0.5))
      let dictionary = try DictionaryPreferences(filePath: path, withCipher: Ciphers.passphrase())
      #expect(dictionary.dictionary().count == 5)
      #expect(try Plist.readFrom(path, withCipher: Ciphers.passphrase()).count == 5)
    }
  }

  @Test func fileIsPrivateAndHidesKeys() throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/preferences"
      try values.saveTo(filePath: path, withCipher: Ciphers.key())
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      let contents = try Data(contentsOf: URL(fileURLWithPath: path))
      #expect(contents.starts(with: Data("PKPREFS1\nPKC1".utf8)))
      #expect(contents.range(of: Data("nested".utf8)) == nil)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["preferences"])
    }
  }

  @Test func changedByteIsReportedAndLoadsNothing() throws {
    try withTemporaryFolder { folder in
      let (path, url) = ("\(folder)/file", URL(fileURLWithPath: "\(folder)/file"))
      try values.saveTo(filePath: path, withCipher: Ciphers.key())
      let contents = try Data(contentsOf: url)
      let loaded = MutableDictionaryPreferences()
      for index in contents.indices {
        var changed = contents
        changed[index] ^= 0x20
        try changed.write(to: url)
        let found = code { try loaded.loadFrom(filePath: path, withCipher: Ciphers.key()) }
        #expect(found != nil, "byte \(index)")
      }
      try contents.dropFirst(9).write(to: url)
      let cut = code { try loaded.loadFrom(filePath: path, withCipher: Ciphers.key()) }
      #expect(cut == .damaged, "the beginning is missing")
      #expect(loaded.dictionary().isEmpty)
    }
  }

  @Test func failuresDiffer() throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/file"
      #expect(
        code { _ = try DictionaryPreferences(filePath: path, withCipher: Ciphers.key()) }
          == .notFound)
      try values.saveTo(filePath: path, withCipher: Ciphers.key(1))
      #expect(code { _ = try Plist.readFrom(path, withCipher: Ciphers.key(2)) } == .wrongKey)
      #expect(
        code { try values.saveTo(filePath: "\(path)/x", withCipher: Ciphers.key()) }
          == .inputOutput)
      struct Plain {}
      let bad: DictionaryPreferences = ["k": Plain()]
      #expect(code { try bad.saveTo(filePath: path, withCipher: Ciphers.key()) } == .unstorable)
      #expect(try Plist.readFrom(path, withCipher: Ciphers.key(1)).count == 5, "it stayed")
    }
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func propertyListsAreEncrypted(format: PropertyListSerialization.PropertyListFormat) throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/file"
      try Plist.writeTo(
        path, withCipher: Ciphers.key(), dictionary: ["a": 1, "b": [true]], format: format)
      var found = PropertyListSerialization.PropertyListFormat.openStep
      let read = try Plist.readFrom(path, withCipher: Ciphers.key(), format: &found)
      #expect(read["a"] as? Int == 1 && read["b"] as? [Bool] == [true] && found == format)
      #expect(
        code {
          try Plist.writeTo(path, withCipher: Ciphers.key(), dictionary: ["a": UUID()])
        } == .unstorable)
    }
  }

  @Test func valuesAndFilesAreNotInterchangeable() throws {
    let ciphers: [any Cipher] = [
      try Ciphers.key(), UnboundCipher(try Ciphers.key()), ShiftingCipher(),
      UnboundCipher(ShiftingCipher()),
    ]
    try withTemporaryFolder { folder in
      let url = URL(fileURLWithPath: "\(folder)/file")
      let preferences = MutableDictionaryPreferences()
      for cipher in ciphers {
        preferences["k", .cipher(cipher)] = ["a": 1]
        let archive = try NSKeyedArchiver.archivedData(
          withRootObject: ["a": 1], requiringSecureCoding: false)
        let values = [try #require(preferences.data(forKey: "k")), try cipher.encrypt(archive)]
        for value in values {
          for file in [value, Data("PKPREFS1\n".utf8) + value] {
            try file.write(to: url)
            #expect(throws: CryptoPrephirencesError.self) {
              try DictionaryPreferences(filePath: url.path, withCipher: cipher)
            }
          }
        }
        try preferences.saveTo(filePath: url.path, withCipher: cipher)
        preferences["k"] = try Data(contentsOf: url).dropFirst(9)
        #expect(preferences["k", .cipher(cipher)] == nil)
      }
    }
  }

  @Test func filesOfOtherProgramsAreRead() throws {
    try withTemporaryFolder { folder in
      let url = URL(fileURLWithPath: "\(folder)/file")
      let plist = try PropertyListSerialization.data(
        fromPropertyList: ["a": 1], format: .xml, options: 0)
      try ShiftingCipher().encrypt(plist).write(to: url)
      let read = try DictionaryPreferences(filePath: url.path, withCipher: ShiftingCipher())
      #expect(read["a"] as? Int == 1)
      try ShiftingCipher().encrypt(Data("garbage".utf8)).write(to: url)
      do {
        _ = try DictionaryPreferences(filePath: url.path, withCipher: ShiftingCipher())
        Issue.record("garbage was read")
      } catch CryptoPrephirencesError.failedToDeserializePropertyList {
      }
    }
  }
}
