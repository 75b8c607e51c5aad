internal import Foundation
internal import Keychain
internal import Testing

@Suite("Values come back as what was put in")
struct RoundTripTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let check: @Sendable (KeychainPreferences) -> Bool

    /// Tests that a value is read back with its own type, also through a subscript.
    init<Value: Equatable & Sendable>(_ value: Value) {
      self.init(value) { (left: Value, right: Value) -> Bool in left == right }
    }

    init<Value: Sendable>(
      _ value: Value, isSame: @escaping @Sendable (Value, Value) -> Bool
    ) {
      testDescription = "\(Value.self): \(value)"
      check = { keychain in
        keychain["k"] = value
        guard keychain.lastError == nil, let read = keychain["k"] as? Value else { return false }
        return isSame(value, read)
      }
    }
  }

  static let relative = URL(string: "../x?y=1#z", relativeTo: URL(string: "https://a.b/c/d?e#f"))

  static let texts = ["", "text", "two\nlines\n", "a\0b", "\u{E9}", "e\u{301}", "\u{1F511}", "42"]
  static let integers: [Case] = [
    Case(0), Case(-1), Case(Int.max), Case(Int.min), Case(Int8.min), Case(Int8.max),
    Case(Int16.min), Case(Int32.max), Case(Int64.min), Case(Int64.max), Case(UInt(7)),
    Case(UInt8.max), Case(UInt16.max), Case(UInt32.max), Case(UInt64.max), Case(UInt.max),
    Case(Int128.min), Case(UInt128.max),
  ]
  static let doubles: [Double] = [
    0, 1, -1, 0.1, 1.0 / 3, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
    .leastNormalMagnitude, -0.0, .nan, 1e300, 9_007_199_254_740_992,
  ]
  static let doubleCases = doubles.map { value in
    Case(value) { (left: Double, right: Double) -> Bool in left.bitPattern == right.bitPattern }
  }
  static let floatCases = doubles.map { value in
    Case(Float(value)) { (left: Float, right: Float) -> Bool in left.bitPattern == right.bitPattern
    }
  }
  static let dates = [
    Date(), Date(timeIntervalSinceReferenceDate: 1e-9), .distantPast, .distantFuture,
    Date(timeIntervalSince1970: 1.25), Date(timeIntervalSinceReferenceDate: -0.1),
  ]
  static let urls = [
    URL(string: "https://user:pw@a.b:1/c%20d/?e=f&g#h"), URL(string: "mailto:a@b.c"),
    URL(string: "relative/path"), URL(fileURLWithPath: "/a b/\u{E9}/"), relative,
  ].compactMap(\.self)
  static let decimals = ["0", "-1.10", "3.14159265358979323846264338327950288419", "1e100"]
    .compactMap { Decimal(string: $0) }
  static let textCases = texts.map { text in
    Case(text) { (left: String, right: String) -> Bool in Array(left.utf8) == Array(right.utf8) }
  }
  static let urlCases = urls.map { url in
    Case(url) { (left: URL, right: URL) -> Bool in
      left == right && left.baseURL == right.baseURL && left.path == right.path
    }
  }
  static let otherScalars: [Case] = [
    Case(Data()), Case(Data([0, 10, 255])), Case(Data("text".utf8)), Case(true), Case(false),
    Case(UUID()), Case(CGFloat(1.5)),
    Case(Decimal.nan) { (left: Decimal, right: Decimal) -> Bool in left.isNaN && right.isNaN },
  ]

  static let arrays: [Case] = [
    Case([Int]()), Case([1, 2, 3]), Case(["a", ""]), Case([1.0, 2.5, .infinity]), Case([true]),
    Case([1.0, -0.0] as [Float]), Case([1, 255] as [UInt8]), Case([Data([1])]),
    Case([1, nil] as [Int?]), Case([[1], []] as [[Int]]), Case(urls), Case([UInt64.max]),
    Case([UUID()]), Case([["a": "b"], [:]] as [[String: String]]), Case(decimals), Case(dates),
  ]
  static let dictionaries: [Case] = [
    Case([String: Int]()), Case(["a": 1, "": 2]), Case(["a": [1, 2]]),
    Case(["$type": "Int", "$value": "1"]), Case(["a": ["$type": 1]]), Case(["d": dates[1]]),
    Case([1: "a", 2: "b"]), Case(Set([1, 2, 3])), Case(["\0\n\"\\": "\0\n\"\\"]),
  ]
  static let codables: [Case] = [
    Case(Account()), Case([Account()]), Case(["a": Account()]), Case(Account.Role.admin),
    Case([Account.Role.admin, .guest]), Case(1..<5), Case(CGPoint(x: 1, y: 2)),
  ]

  @Test(arguments: [
    textCases, integers, doubleCases, floatCases, urlCases, otherScalars,
    dates.map { Case($0) }, decimals.map { Case($0) },
  ])
  func scalars(_ tests: [Case]) {
    for test in tests { #expect(test.check(preferences()), "\(test.testDescription)") }
  }

  @Test(arguments: arrays + dictionaries + codables) func composite(_ test: Case) {
    #expect(test.check(preferences()))
  }

  @Test func heterogeneousValuesKeepEachType() throws {
    let keychain = preferences()
    let nested: [String: Any] = [
      "int": 1, "bool": true, "double": 1.0, "text": "1", "date": Date(timeIntervalSince1970: 1),
      "array": [1, "a", 2.5, false, Data([1]), ["deep": UInt8(3)]] as [Any],
      "account": Account(), "nothing": Int?.none as Any, "empty": [Any](),
    ]
    try keychain.set(nested, for: "k")
    let read = try #require(try keychain.value(for: "k") as? [String: Any])
    #expect(read.count == nested.count)
    #expect(read["int"] is Int && read["int"] as? Int == 1)
    #expect(read["bool"] is Bool && read["bool"] as? Bool == true)
    #expect(read["double"] is Double && read["text"] as? String == "1")
    #expect(read["date"] as? Date == Date(timeIntervalSince1970: 1))
    #expect(read["account"] as? Account == Account())
    let array = try #require(read["array"] as? [Any])
    #expect(array[0] is Int && array[1] is String && array[2] is Double && array[3] is Bool)
    #expect(array[4] as? Data == Data([1]))
    #expect((array[5] as? [String: UInt8])?["deep"] == 3)
  }

  @Test func truthValuesAndNumbersStayApart() {
    let keychain = preferences()
    keychain["int"] = 1
    keychain["bool"] = true
    #expect(keychain["int"] is Int && !(keychain["int"] is Bool))
    #expect(keychain["bool"] is Bool && !(keychain["bool"] is Int))
  }

  @Test func objectsOfFoundationComeBackAsTheirValues() {
    let keychain = preferences()
    let cases: [(Any, (Any?) -> Bool)] = [
      (NSNumber(value: true), { $0 as? Bool == true }), (NSNumber(value: 1), { $0 as? Int == 1 }),
      (NSNumber(value: 1.5), { $0 as? Double == 1.5 }),
      (NSNumber(value: UInt64.max), { $0 as? UInt64 == .max }),
      (NSString("text"), { $0 as? String == "text" }),
      (NSDate(timeIntervalSince1970: 1), { $0 as? Date == Date(timeIntervalSince1970: 1) }),
      (NSURL(fileURLWithPath: "/a"), { ($0 as? URL)?.path == "/a" }),
      (NSData(data: Data([1])), { $0 as? Data == Data([1]) }),
      (NSArray(array: [1, "a"]), { ($0 as? [Any])?.count == 2 }),
      (NSDictionary(dictionary: ["a": 1]), { $0 as? [String: Int] == ["a": 1] }),
      (NSDecimalNumber(string: "1.10"), { $0 as? Decimal == Decimal(string: "1.10") }),
      (NSNumber(value: Float(0.1)), { $0 as? Float == 0.1 }),
      ("text".dropFirst(), { $0 as? String == "ext" }),
      ([["ext".dropFirst(): "text".dropFirst()]], { $0 as? [[String: String]] == [["xt": "ext"]] }),
    ]
    for (value, isSame) in cases {
      keychain["k"] = value
      #expect(isSame(keychain["k"]), "\(type(of: value))")
    }
  }

  @Test func classesAreDecodedToo() throws {
    let keychain = preferences()
    keychain["k"] = Session()
    #expect((keychain["k"] as? Session)?.token == "t")
  }

  @Test func unstorableValueFailsAndChangesNothing() {
    struct Plain {}
    var deep: [Any] = []
    for _ in 0..<10_000 { deep = [deep] }
    let values: [Any] = [
      Plain(), [Plain()], ["a": Plain()], (1, 2), { 1 }, NSObject(), NSNull(), deep,
      [1: Plain()], Int.self, "a" as StaticString,
    ]
    let keychain = preferences()
    for (number, value) in values.enumerated() {
      keychain["k"] = "old"
      keychain["k"] = value
      #expect(keychain.lastError?.code == .invalidArgument, "value \(number)")
      #expect(keychain.lastStatus == errSecParam)
      #expect(keychain["k"] as? String == "old")
    }
  }
}
