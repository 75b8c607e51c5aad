import Foundation
import Prephirences
import PrephirencesDurable
import SwiftyUserDefaults
import Testing

/// What goes in comes out, also from the file that another process would open.
@Suite struct FidelityTests {
  private func expectKept<T: DefaultsSerializable & Equatable>(
    _ value: T, key: String = "key", line: SourceLocation = #_sourceLocation
  ) throws where T.T == T, T: SendableMetatype {
    try withFolder { folder in
      let key = DefaultsKey<T?>(key)
      func open() -> DefaultsAdapter<DefaultsKeys> {
        DefaultsAdapter(
          preferences: DurablePreferences(suiteName: "test", folder: folder),
          keyStore: DefaultsKeys())
      }
      let first = open()
      first[key: key] = value
      #expect(first.lastPreferencesError == nil, sourceLocation: line)
      #expect(first[key: key] == value, sourceLocation: line)
      let second = open()
      #expect(second[key: key] == value, sourceLocation: line)
      #expect(second.lastPreferencesError == nil, sourceLocation: line)
    }
  }

  @Test func integers() throws {
    for value in [Int.max, .min, 0, 1 << 53 + 1] { try expectKept(value) }
    try expectKept(UInt.max)
    try expectKept(UInt64.max)
    try expectKept(Int64.min)
    try expectKept(UInt8.max)
    try expectKept(Int8.min)
    try expectKept(UInt16.max)
    try expectKept(Int16.min)
    try expectKept(UInt32.max)
    try expectKept(Int32.min)
    try expectKept([Int.max, .min])
    try expectKept([UInt64.max])
  }

  @Test func fractions() throws {
    for value in [0.1, -0.0, .infinity, .leastNonzeroMagnitude, 1.0] { try expectKept(value) }
    try expectKept(Float.pi)
    try expectKept(Float.infinity)
    try expectKept(CGFloat(0.1))
    try expectKept(Decimal(string: "1234567890.123456789") ?? 0)
    try expectKept([0.1, 1])
    try expectKept([Float.pi])
  }

  @Test func truthValuesAndText() throws {
    try expectKept(true)
    try expectKept([true, false])
    try expectKept("a\u{0}b\r\n\u{1F600} e\u{301}")
    try expectKept(["", "\u{FEFF}"])
  }

  @Test func datesDataAndURLs() throws {
    let date = Date(timeIntervalSinceReferenceDate: 1.25)
    try expectKept(date)
    try expectKept([date, Date(timeIntervalSinceReferenceDate: 700_000_000.123_456)])
    try expectKept(Data([0, 255]))
    try expectKept([Data(), Data([1])])
    let url = try #require(URL(string: "https://swift.org/x?y#z"))
    let relative = try #require(URL(string: "a/b", relativeTo: url))
    try expectKept(url)
    try expectKept(relative)
    try expectKept([url, relative])
    try expectKept(UUID())
  }

  @Test func collections() throws {
    try expectKept(Set([1, 2, 3]))
    try expectKept(Set(["a"]))
    try expectKept([[1, 2], []])
    try expectKept([[["a"]], []])
    try expectKept([Set([1])])
    try expectKept(["a": 1])
    try expectKept(["a": ["b": [true]]])
    try expectKept([["a": "b"], [:]])
    try expectKept([[Side.left], [.right]])
    try expectKept(["a": Side.left])
  }

  @Test func codableInCollections() throws {
    let point = Point(x: 1, y: 0.1)
    try expectKept(point)
    try expectKept([point])
    try expectKept(["a": point])
    try expectKept(["a": [point]])
    try expectKept([["a": point]])
    try expectKept([[point], []])
    try expectKept(Set([point]))
    try expectKept(["a": Level.high])
  }

  @Test(arguments: ["a\u{0}b", "e\u{301}", "\u{E9}", "a.b", " "])
  func keys(_ key: String) throws { try expectKept(1, key: key) }

  @Test func canonicallyEquivalentKeysDiffer() throws {
    try withFolder { folder in
      let defaults = DefaultsAdapter(
        preferences: DurablePreferences(suiteName: "test", folder: folder),
        keyStore: DefaultsKeys())
      defaults[key: DefaultsKey<Int?>("e\u{301}")] = 1
      defaults[key: DefaultsKey<Int?>("\u{E9}")] = 2
      #expect(defaults[key: DefaultsKey<Int?>("e\u{301}")] == 1)
    }
  }

  @Test func anyValues() throws {
    try withFolder { folder in
      let key = DefaultsKey<[String: Any]?>("key")
      let list = DefaultsKey<[[String: Any]]>("list", defaultValue: [])
      func open() -> DefaultsAdapter<DefaultsKeys> {
        DefaultsAdapter(
          preferences: DurablePreferences(suiteName: "test", folder: folder),
          keyStore: DefaultsKeys())
      }
      open()[key: key] = ["a": 1, "b": ["c": true]]
      open()[key: list].append(["d": 0.5])
      #expect(open()[key: key]?["a"] as? Int == 1)
      #expect((open()[key: key]?["b"] as? [String: Bool]) == ["c": true])
      #expect(open()[key: list].first?["d"] as? Double == 0.5)
    }
  }
}
