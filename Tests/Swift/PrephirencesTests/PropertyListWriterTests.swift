internal import Foundation
internal import Testing

@testable internal import PreferencesCore
@testable internal import Prephirences

/// Property lists are written as Foundation writes them.
@Suite("Property lists that are written")
struct PropertyListWriterTests {
  private static var numbers: [Any] {
    [
      0, 1, -1, 127, 128, 255, 256, 65_535, 65_536, Int(UInt32.max), Int(UInt32.max) + 1, Int.min,
      Int.max, UInt64(Int.max) + 1, UInt64.max, 0.0, 1.0, 0.1, 1e300, 1e15, 1e16, 1e17,
      123_456_789.125, Double.leastNonzeroMagnitude, -Double.greatestFiniteMagnitude, Double.nan,
      Double(nan: 5, signaling: false), Double.infinity, -Double.infinity, true, false,
    ]
  }

  private static var texts: [Any] {
    [
      "", "a<b>&\"'\n\t\u{1F600}", "\0\u{1}", "\u{E9}", "abcdefghijklmn", "abcdefghijklmno",
      String(repeating: "x", count: 300), String(repeating: "\u{E9}", count: 70_000),
    ]
  }

  private static let data = ([0, 1, 2, 3, 14, 15, 50, 51, 52, 1000] as [Int]).map { count in
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
  }

  private static let dates: [Date] = {
    let edges: [Double] = [
      0, -1e-20, 59.999_999_99, -0.5, 0.999_999_999, 63_113_904_000, -63_114_076_800, -26_870_400,
      -31_622_400.25, 5_097_600,
    ]
    let days = stride(from: -63_114_076_800, through: 63_113_904_000, by: 86_400 * 397.3)
    return (edges + days).map(Date.init(timeIntervalSinceReferenceDate:))
  }()

  private static var values: [Any] {
    let lists: [Any] = [
      [Any](), PreferencesDictionary(), ["x", ["x": "x"]] as [Any], [0, 1.0, true] as [Any],
    ]
    return numbers + texts + data + dates + lists
  }

  private func places(of value: Any) -> [Any] {
    let deep: [Any] = [[[[[[[[[["k": value]]]]]]]]]]
    return [value, [value], ["k": value], deep]
  }

  @Test func theBytesAreThoseOfFoundation() throws {
    for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
      for root in Self.values.flatMap(places) {
        let data = try PropertyListWriter.data(
          of: PreferenceValue(storing: root), format: PropertyListReader.Format(format))
        let expected = try PropertyListSerialization.data(
          fromPropertyList: root, format: format, options: 0)
        #expect(data == expected, "\(root)")
      }
    }
  }

  @Test func numbersThatRepeatAreOneObject() throws {
    let list = Array(repeating: [1_000_000, 0.5] as [Any], count: 300)
    let data = try PropertyListWriter.data(of: PreferenceValue(storing: list), format: .binary)
    #expect(data.count < 300 * 12)
    let read = try PropertyListSerialization.propertyList(from: data, format: nil)
    #expect(read as? NSArray == list as NSArray)
  }

  @Test func keysAreInTheOrderOfFoundation() throws {
    let parts = [
      "", "a", "A", "b", "-", "0", "10", "9", "e\u{301}", "\u{E9}", "\u{DF}", "ss", "\u{1F600}",
      "\u{FF21}", "\u{E000}", "\u{FFFD}", "\0", "\u{1}", "\u{AC00}", "\u{3A9}", "\u{FB01}",
    ]
    var keys: PreferencesDictionary = [:]
    for one in parts { for other in parts { keys[one + other] = true } }
    let expected = try PropertyListSerialization.data(
      fromPropertyList: keys, format: .xml, options: 0)
    let root = try PreferenceValue(storing: keys)
    #expect(try PropertyListWriter.data(of: root, format: .xml) == expected)
    let binary = try PropertyListWriter.data(of: root, format: .binary)
    let read = try PropertyListSerialization.propertyList(from: binary, format: nil)
    #expect(read as? NSDictionary == keys as NSDictionary)
  }

  @Test func valuesThatFoundationLosesAreKept() throws {
    let data = try PropertyListWriter.data(
      of: .array([.double(-0.0), .string("a\r\nb")]), format: .xml)
    let text = String(decoding: data, as: UTF8.self)
    #expect(text.contains("<real>-0.0</real>\n\t<string>a&#13;\nb</string>"))
    let read = try #require(try PropertyListReader.read(data).root.plain as? [Any])
    #expect((read[0] as? Double)?.sign == .minus && read[1] as? String == "a\r\nb")
  }

  @Test func otherTextIsRefused() {
    var deep = PreferenceValue.string("x")
    for _ in 0..<1000 { deep = .array([deep]) }
    let roots: [PreferenceValue] = [
      .uuid(UUID()), .array([.uuid(UUID())]), .dictionary(["k": .decimal(1)]), .float(1),
      .date(Date(timeIntervalSinceReferenceDate: 1e300)),
      .date(Date(timeIntervalSinceReferenceDate: .nan)), deep,
    ]
    for root in roots {
      #expect(throws: PreferencesError.self) {
        try PropertyListWriter.data(of: root, format: .xml)
      }
    }
    #expect(throws: PreferencesError.self) { try PropertyListReader.Format(.openStep) }
  }
}
