internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Typed getters")
struct TypedGetterTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let make: @Sendable () -> Any
    let integer: Int
    let double: Double
    let bool: Bool
    let string: String?

    var testDescription: String { "\(type(of: make())) \(make())" }

    init(
      _ make: @autoclosure @escaping @Sendable () -> Any, _ integer: Int, _ double: Double,
      _ bool: Bool, _ string: String?
    ) {
      self.make = make
      self.integer = integer
      self.double = double
      self.bool = bool
      self.string = string
    }

    static let all = [
      Case(1, 1, 1, true, "1"), Case(0, 0, 0, false, "0"), Case(-5, -5, -5, true, "-5"),
      Case(true, 1, 1, true, "1"), Case(false, 0, 0, false, "0"),
      Case(3.7, 3, 3.7, true, "3.7"), Case(-3.7, -3, -3.7, true, "-3.7"),
      Case(0.5, 0, 0.5, true, "0.5"), Case(1e300, .max, 1e300, true, "1e+300"),
      Case(-1e300, .min, -1e300, true, "-1e+300"),
      Case(Double.infinity, .max, .infinity, true, "inf"),
      Case(Float(2.5), 2, 2.5, true, "2.5"), Case(UInt8(200), 200, 200, true, "200"),
      Case(Int.max, .max, Double(Int.max), true, "\(Int.max)"),
      Case(UInt64.max, -1, Double(UInt64.max), true, "\(UInt64.max)"),
      Case(Decimal(string: "2.75") as Any, 2, 2.75, true, "2.75"),
      Case(CGFloat(2.75), 2, 2.75, true, "2.75"),
      Case(NSNumber(value: 3.7), 3, 3.7, true, "3.7"),
      Case(NSNumber(value: 7), 7, 7, true, "7"),
      Case(NSNumber(value: UInt64.max), -1, Double(UInt64.max), true, "\(UInt64.max)"),
      Case("12abc", 12, 12, true, "12abc"), Case("3.7", 3, 3.7, true, "3.7"),
      Case("YES", 0, 0, true, "YES"), Case("true", 0, 0, true, "true"),
      Case("T", 0, 0, true, "T"), Case("NO", 0, 0, false, "NO"), Case("0", 0, 0, false, "0"),
      Case("abc", 0, 0, false, "abc"), Case("", 0, 0, false, ""),
      Case([1], 0, 0, false, nil), Case(Data([1]), 0, 0, false, nil),
      Case(Optional<Int>.none as Any, 0, 0, false, nil),
      Case(Optional<Int>.some(4) as Any, 4, 4, true, "4"),
    ]
  }

  @Test(arguments: Case.all)
  func convert(_ test: Case) {
    let preferences = MinimalPreferences(["k": test.make()])
    #expect(preferences.integer(forKey: "k") == test.integer)
    #expect(preferences.double(forKey: "k") == test.double)
    #expect(preferences.float(forKey: "k") == Float(test.double))
    #expect(preferences.bool(forKey: "k") == test.bool)
    #expect(preferences.string(forKey: "k") == test.string)
  }

  @Test func notANumberIsTheIntegerZero() {
    let preferences = MinimalPreferences(["k": Double.nan])
    #expect(preferences.integer(forKey: "k") == 0)
    #expect(preferences.double(forKey: "k").isNaN)
  }

  @Test func absenceHasDefaults() {
    let preferences = MinimalPreferences()
    #expect(preferences.integer(forKey: "k") == 0 && preferences.double(forKey: "k") == 0)
    #expect(preferences.float(forKey: "k") == 0 && !preferences.bool(forKey: "k"))
    #expect(preferences.string(forKey: "k") == nil && preferences.data(forKey: "k") == nil)
    #expect(preferences.url(forKey: "k") == nil && preferences.array(forKey: "k") == nil)
    #expect(preferences.dictionary(forKey: "k") == nil)
    #expect(preferences.unarchiveObject(forKey: "k") == nil && !preferences.hasObject(forKey: "k"))
  }

  @Test func collectionsAreCast() {
    let preferences = MinimalPreferences([
      "array": [1, "a"], "strings": ["a", "b"], "dictionary": ["a": 1], "data": Data([1, 2]),
    ])
    #expect(preferences.array(forKey: "array")?.count == 2)
    #expect(preferences.stringArray(forKey: "array") == nil)
    #expect(preferences.stringArray(forKey: "strings") == ["a", "b"])
    #expect(preferences.dictionary(forKey: "dictionary")?["a"] as? Int == 1)
    #expect(preferences.data(forKey: "data") == Data([1, 2]))
  }

  @Test func urlsAreReadOfEachForm() {
    let preferences = MinimalPreferences([
      "url": URL(string: "https://swift.org/x?y#z") as Any, "text": "https://swift.org",
      "path": "/a b/c", "number": 1,
    ])
    preferences.set(objectToArchive: URL(string: "https://archived.org"), forKey: "archive")
    #expect(preferences.url(forKey: "url")?.absoluteString == "https://swift.org/x?y#z")
    #expect(preferences.url(forKey: "text")?.absoluteString == "https://swift.org")
    #expect(preferences.url(forKey: "path")?.path == "/a b/c")
    #expect(preferences.url(forKey: "path")?.isFileURL == true)
    #expect(preferences.url(forKey: "archive")?.absoluteString == "https://archived.org")
    #expect(preferences.url(forKey: "number") == nil)
  }
}
