internal import Foundation
internal import Prephirences

/// A value that must be read back equal from any store.
struct Sample {
  let key: String
  let value: Any
  let isEqual: (Any?) -> Bool

  init<Value: Equatable>(_ key: String, _ value: Value) {
    self.init(key, value) { $0 as? Value == value }
  }

  init(_ key: String, _ value: Any, _ isEqual: @escaping (Any?) -> Bool) {
    self.key = key
    self.value = value
    self.isEqual = isEqual
  }

  static func widths<Integer: FixedWidthInteger>(_ type: Integer.Type) -> [Sample] {
    [.min, .max, 0, 1, .max - 1].enumerated().map { Sample("\(type)\($0)", $1 as Integer) }
  }

  static func bits<Float: BinaryFloatingPoint>(_ type: Float.Type) -> [Sample] {
    let values: [Float] = [
      0, 1, -1, 0.1, 1 / 3, .pi, .infinity, -.infinity, .greatestFiniteMagnitude,
      -.greatestFiniteMagnitude, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
      .leastNormalMagnitude, .ulpOfOne,
    ]
    return values.enumerated().map { Sample("\(type)\($0)", $1) }
      + [
        Sample("\(type)NaN", Float.nan) { ($0 as? Float)?.isNaN == true },
        // The sign of 0 is not preserved.
        Sample("\(type)Zero", -0.0 as Float),
      ]
  }

  static let urls = [
    "https://user:password@example.org:8080/a%20b/c?d=e&f=%C3%A9#g", "file:///tmp/a%20b",
    "relative/path",
    "mailto:a@example.org", "https://[::1]:80/", "x-scheme:", "https://example.org/?q",
    "urn:isbn:0", "#fragment", "//host/path", "https://xn--bcher-kva.example/",
  ]

  static let dates: [Double] = [
    0, 1.25, -1.25, 0.1, -0.000001, 785_000_000.123456, 1e-9, 63_113_904_000, 1e12 + 0.5, -1e11,
    .greatestFiniteMagnitude, .infinity, -64_000_000_000.5,
  ]

  static let texts = [
    "", " ", "a\0b", "\u{1}\r\n\t\u{85}\u{2028}", "e\u{301}", "\u{e9}", "\u{301}", "<&>\"'", "😀👨‍👩‍👧",
    "\u{fffe}\u{ffff}", "\u{10ffff}", "]]>", "12", "YES", "\u{feff}text", "CF$UID",
    String(repeating: "x", count: 100_000),
  ]

  /// Every property list type, number width and kind of collection.
  static var all: [Sample] {
    var samples = [
      Sample("true", true), Sample("false", false),
      Sample("uuid", UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")),
      Sample("decimal", Decimal(string: "-1.5")),
      Sample("decimal long", Decimal(string: "12345678901234567890.123456789012345678")),
      Sample("data", Data(0...255)), Sample("no data", Data()),
      Sample("archive", Data("bplist00 PrephirencesType".utf8)),
      Sample(
        "base", URL(string: "c?d#e", relativeTo: URL(string: "https://example.org/a/b")) as Any
      ) {
        ($0 as? URL)?.absoluteString == "https://example.org/a/c?d#e"
      },
    ]
    samples += widths(Int.self) + widths(Int8.self) + widths(Int16.self) + widths(Int32.self)
    samples += widths(Int64.self) + widths(UInt.self) + widths(UInt8.self) + widths(UInt16.self)
    samples += widths(UInt32.self) + widths(UInt64.self)
    samples += bits(Double.self) + bits(Float.self)
    samples += urls.enumerated().map { Sample("url\($0)", URL(string: $1)) }
    samples += texts.enumerated().map { Sample("text\($0)", $1) }
    samples += dates.enumerated().map {
      Sample("date\($0)", Date(timeIntervalSinceReferenceDate: $1))
    }
    samples += collections
    samples += texts.filter { $0.count < 100 }.enumerated().map { Sample("key " + $1, $0) }
    return samples
  }

  static var collections: [Sample] {
    let date = Date(timeIntervalSinceReferenceDate: 1.5)
    return [
      Sample("no elements", [Int]()), Sample("no pairs", [String: Int]()),
      Sample("integers", [1, .max, .min]), Sample("bytes", [UInt8](0...255)),
      Sample("truth", [true, false]), Sample("floats", [Float(0.1), .infinity]),
      Sample("strings", ["", "a\0b"]), Sample("nested", [["a": [[1, 2], []]], [:]]),
      Sample("urls", [URL(string: "https://example.org/a?b#c")]),
      Sample("dates", ["a": [date, date + 0.25], "b": [date + 10]]),
      Sample("uuids", ["a": UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")]),
      Sample("data in array", [Data([1]), Data()]),
      Sample("keys", ["": 1, "a\0b": 2, "\u{301}": 3, "😀": 4]),
      Sample("no reference", ["CF$UID": "1"]), Sample("no references", ["CF$UID": 1, "a": 2]),
      Sample("mixed", [1, "a", true, 2.5, date, Data([1]), ["k": [Any]()]] as [Any]) { read in
        guard let read = read as? [Any], read.count == 7 else { return false }
        return read[0] as? Int == 1 && read[1] as? String == "a" && read[2] as? Bool == true
          && read[3] as? Double == 2.5 && read[4] as? Date == date && read[5] as? Data == Data([1])
          && (read[6] as? [String: [Any]])?["k"]?.isEmpty == true
      },
    ]
  }
}
