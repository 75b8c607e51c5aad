internal import CryptoPrephirences
internal import Foundation
internal import Testing

@Suite("Encrypted values")
struct EncryptedValueTests {
  private let stored = MutableDictionaryPreferences()
  private let preferences: MutableCryptoPrephirences

  init() throws {
    preferences = MutableCryptoPrephirences(preferences: stored, cipher: try Ciphers.key())
  }

  private func expectKept<Value: Equatable>(_ values: Value...) {
    for value in values {
      preferences["k"] = value
      let read = preferences["k"]
      let found = read as? Value
      #expect(found == value && read.map { type(of: $0) == Value.self } == true, "\(value)")
    }
  }

  @Test func valuesKeepTheirTypes() {
    expectKept("", "text", "e\u{301}\u{0}\u{1F600}")
    expectKept(true, false)
    expectKept(Int.min, Int.max, 0, -1)
    expectKept(Int8.min, Int8.max)
    expectKept(Int16.min, Int16.max)
    expectKept(Int32.min, Int32.max)
    expectKept(Int64.min, Int64.max)
    expectKept(Int128.min, Int128.max)
    expectKept(UInt.max)
    expectKept(UInt8.max)
    expectKept(UInt16.max)
    expectKept(UInt32.max)
    expectKept(UInt64.max)
    expectKept(UInt128.max)
    expectKept(Float.leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -0.0)
    expectKept(Double.leastNonzeroMagnitude, .greatestFiniteMagnitude, -.infinity, 0.1)
    expectKept(CGFloat(1.5))
    expectKept(Decimal(string: "0.1") ?? 0, Decimal.greatestFiniteMagnitude)
    expectKept(Data(), Data([0, 255]))
    expectKept(Date(timeIntervalSinceReferenceDate: 1.25), .distantPast, .distantFuture)
    expectKept(UUID())
    expectKept(Theme(name: "dark", scale: .infinity))
  }

  @Test func notANumberStaysNotANumber() {
    preferences["d"] = Double.nan
    preferences["f"] = Float.nan
    preferences["x"] = Decimal.nan
    #expect((preferences["d"] as? Double)?.isNaN == true)
    #expect((preferences["f"] as? Float)?.isNaN == true)
    #expect((preferences["x"] as? Decimal)?.isNaN == true)
  }

  @Test func urlsKeepEveryPart() throws {
    let base = try #require(URL(string: "https://user@example.org:8080/a/"))
    let relative = try #require(URL(string: "b?q=1#f", relativeTo: base))
    expectKept(base, relative, URL(fileURLWithPath: "/tmp/a b"))
    #expect((preferences["k"] as? URL)?.isFileURL == true)
  }

  @Test func collectionsKeepTheirElements() {
    preferences["k"] = ["a": [1, "two", 3.5, Data([4])], "b": [String: Any](), "c": [Any]()]
    let read = preferences.dictionary(forKey: "k")
    let list = read?["a"] as? [Any]
    #expect(list?[0] as? Int == 1 && list?[1] as? String == "two" && list?[2] as? Double == 3.5)
    #expect(list?[3] as? Data == Data([4]))
    #expect((read?["b"] as? [String: Any])?.isEmpty == true)
    #expect((read?["c"] as? [Any])?.isEmpty == true)
  }

  @Test func objectsAreArchived() {
    preferences["k"] = NSNumber(value: 7)
    #expect(preferences["k"] as? Int == 7)
    preferences["k"] = NSSet(array: ["a"])
    #expect((preferences["k"] as? NSSet)?.contains("a") == true)
  }

  @Test func storedDataRevealsNothing() throws {
    preferences["k"] = "hunter2"
    let data = try #require(stored.data(forKey: "k"))
    #expect(data.range(of: Data("hunter2".utf8)) == nil)
    #expect(Array(stored.dictionary().keys) == ["k"])
  }

  @Test func aValueOfAnotherKeyIsRefused() {
    preferences["a"] = "1"
    stored["b"] = stored["a"]
    #expect(preferences["b"] == nil)
    #expect(preferences.dictionary().keys.sorted() == ["a"])
    #expect(code { _ = try preferences.decryptedObject(forKey: "b") } == .damaged)
    #expect((preferences.lastError as? CryptoPrephirencesError)?.code == .damaged)
  }

  @Test func undecryptableValuesAreOmittedUnlessWanted() {
    preferences["good"] = 1
    stored["plain"] = "text"
    stored["garbage"] = Data("PKC1garbage".utf8)
    #expect(preferences["plain"] == nil && preferences["garbage"] == nil)
    #expect(preferences.dictionary().count == 1)
    #expect(code { _ = try preferences.decryptedObject(forKey: "plain") } == .notEncrypted)
    preferences.returnNotDecrytable = true
    #expect(preferences["plain"] as? String == "text" && preferences.dictionary().count == 3)
    #expect(preferences.returnsUndecryptable && preferences.returnNotDecryptable)
    preferences.returnNotDecryptable = false
    #expect(!preferences.returnsUndecryptable)
  }

  @Test func valueOfLocalTypeNeedsKnownType() {
    struct Local: Codable, Equatable {
      var a = 1
    }
    stored["k", .cipher(preferences.cipher)] = Local()
    #expect(stored["k", .cipher(preferences.cipher)] == nil && preferences["k"] == nil)
    let known = MutablePreference<Local>(
      preferences: stored, key: "k", transformation: TransformationKey.cipher(preferences.cipher))
    #expect(known.value == Local())
  }

  @Test func unencryptableValueChangesNothing() {
    struct Plain {}
    preferences["k"] = 1
    preferences["k"] = Plain()
    #expect(preferences["k"] as? Int == 1)
    #expect((preferences.lastError as? CryptoPrephirencesError)?.code == .unstorable)
    #expect(code { try preferences.setEncrypted([Plain()], forKey: "k") } == .unstorable)
  }

  @Test func refusalBeforeEncryptionIsReported() throws {
    struct Plain {}
    preferences["k", .archive] = Plain()
    #expect((preferences.lastError as? PreferencesError)?.code == .unstorable)
    final class Person { var token: Any? }
    let refusing = MutableKVCPreferences(Person(), [\.token])
    refusing["token", .cipher(try Ciphers.key())] = Plain()
    #expect(refusing.lastError?.message.hasPrefix("the value of the key 'token' cannot be") == true)
  }

  @Test func nilRemovesAndClearingClears() {
    preferences["a"] = 1
    preferences["b"] = 2
    stored["c"] = "plain"
    preferences["a"] = Optional<Int>.none as Any
    #expect(stored["a"] == nil && stored["b"] != nil)
    preferences.clearAll()
    #expect(stored.dictionary().isEmpty)
  }

  @Test func observersReceiveDecryptedValues() {
    let seen = Seen()
    let observation = preferences.observe(forKey: "k") { seen.add($0.newValue as? String) }
    preferences["k"] = "one"
    observation.cancel()
    preferences["k"] = "two"
    #expect(seen.values == ["one"])
  }
}
