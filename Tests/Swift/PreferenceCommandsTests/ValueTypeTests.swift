import Foundation
import PreferencesCore
import PrephirencesCommandLine
import PrephirencesSystem
import Testing

@testable import PreferenceCommands

@Suite("Values")
struct ValueTypeTests {
  @Test("A value keeps its type", arguments: difficultValues.keys.sorted())
  func typesStay(key: String) throws {
    let value = try #require(difficultValues[key].flatMap { PreferenceValue($0) })
    #expect(PreferenceValue(value.object) == value)
  }

  @Test("JSON with a byte order mark is refused, as in files")
  func markedJSON() throws {
    let error = #expect(throws: CommandLineError.self) { try PreferenceValue.json("\u{FEFF}[1]") }
    #expect(error?.message.contains("byte order mark") == true)
    #expect(try PreferenceValue.json("[1]").type == .array)
  }

  @Test("Number objects keep their type")
  func numberObjects() {
    let numbers: [(NSNumber, ValueType)] = [
      (NSNumber(value: true), .bool), (NSNumber(value: 1), .int),
      (NSNumber(value: UInt64.max), .int),
      (NSNumber(value: Float(1)), .float), (NSNumber(value: 1.0), .double),
      (NSNumber(value: Int8(1)), .int),
    ]
    for (number, kind) in numbers { #expect(PreferenceValue(number)?.type == kind) }
  }

  @Test("Other types are no values")
  func otherTypes() {
    #expect(PreferenceValue(NSObject()) == nil)
    #expect(PreferenceValue([1, NSObject()]) == nil)
    #expect(PreferenceValue(["a": NSObject()]) == nil)
    #expect(PreferenceValue(Int?.none as Any) == nil)
  }

  @Test("Only exact numbers are converted")
  func exactConversion() throws {
    #expect(PreferenceValue.integer(3).converted(to: .double) == .double(3))
    #expect(PreferenceValue.integer(Int64.max).converted(to: .double) == nil)
    #expect(PreferenceValue.double(2).converted(to: .int)?.text == "2")
    #expect(PreferenceValue.double(2.5).converted(to: .int) == nil)
    #expect(PreferenceValue.double(0.1).converted(to: .float) == nil)
    #expect(
      PreferenceValue.unsignedInteger(UInt64.max).converted(to: .int)?.text
        == "18446744073709551615")
    #expect(PreferenceValue.string("1").converted(to: .int) == nil)
    #expect(PreferenceValue.bool(true).converted(to: .int) == nil)
  }
}

@Suite("Text of values")
struct ValueTextTests {
  @Test("Text reads back to the same value", arguments: difficultValues.keys.sorted())
  func textReadsBack(key: String) throws {
    let value = try #require(difficultValues[key].flatMap { PreferenceValue($0) })
    guard ![.array, .dict].contains(value.type), key != "relative URL" else { return }
    let read = try #require(PreferenceValue(value.text, as: value.type) { _ in nil })
    #expect(read == value)
  }

  @Test("Usual spellings are read")
  func usualSpellings() {
    func text(_ text: String, _ kind: ValueType) -> String? {
      PreferenceValue(text, as: kind) { $0 }?.text
    }
    for word in ["YES", "true", "1", "on"] { #expect(text(word, .bool) == "true") }
    for word in ["no", "False", "0", "OFF"] { #expect(text(word, .bool) == "false") }
    #expect(text("+7", .int) == "7")
    #expect(text("18446744073709551615", .int) == "18446744073709551615")
    #expect(text("1e3", .double) == "1000.0")
    #expect(text("DE AD be ef", .data) == "deadbeef")
    #expect(text("007.50", .decimal) == "7.5")
    #expect(text("1e-3", .decimal) == "0.001")
  }

  @Test(
    "Text of another type is refused",
    arguments: [
      ("8O", ValueType.int), ("1.0", .int), ("18446744073709551616", .int), ("", .int),
      ("maybe", .bool), ("2", .bool), ("", .bool), ("abc", .data), ("+1", .data), ("", .url),
      ("1e999", .double), ("", .double), ("1e99", .float), ("2027-02-29", .date), ("", .date),
      ("2027-01-01T24:00:00Z", .date), ("E621E1F8", .uuid), ("1e999", .decimal), ("x", .decimal),
      ("12345678901234567890123456789012345678901", .decimal), ("[]", .array), ("{}", .dict),
    ] as [(String, ValueType)])
  func otherTypes(text: String, kind: ValueType) {
    #expect(PreferenceValue(text, as: kind) { $0 } == nil)
  }

  @Test("Dates are written in UTC")
  func datesInUTC() {
    func text(_ seconds: Double) -> String {
      DateText.exactText(Date(timeIntervalSinceReferenceDate: seconds))
    }
    #expect(text(0) == "2001-01-01T00:00:00Z")
    #expect(text(-0.25) == "2000-12-31T23:59:59.75Z")
    #expect(text(94_694_400.5) == "2004-01-02T00:00:00.5Z")
    #expect(text(-31_622_400) == "2000-01-01T00:00:00Z")
    #expect(text(-63_113_904_000) == "0001-01-01T00:00:00Z")
    #expect(text(252_423_993_599) == "9999-12-31T23:59:59Z")
    #expect(text(252_423_993_600) == "+10000-01-01T00:00:00Z")
    #expect(text(Date.distantPast.timeIntervalSinceReferenceDate) == "0000-12-30T00:00:00Z")
    #expect(text(-63_145_526_400.5) == "-0001-12-31T23:59:59.5Z")
    #expect(text(1e18) == "+31688740507-10-25T01:46:40Z")
    #expect(text(0x1p62) == "4.611686018427388e+18 s after 2001-01-01T00:00:00Z")
    #expect(text(-.infinity) == "-inf s after 2001-01-01T00:00:00Z")
  }

  @Test("Dates of all sizes read back with the same bits")
  func datesReadBack() {
    var numbers: [Double] = [
      0x1p62, 0x1p62.nextDown, 1e300, .infinity, .leastNonzeroMagnitude, 252_423_993_600, 0x1p53,
    ]
    for exponent in -20..<63 {
      numbers += (0..<20).map { _ in
        Double(sign: .plus, exponent: exponent, significand: .random(in: 1..<2))
      }
    }
    for number in numbers + numbers.map({ -$0 }) {
      let text = DateText.exactText(Date(timeIntervalSinceReferenceDate: number))
      let read = DateText.parseExact(text) { _ in nil }?.timeIntervalSinceReferenceDate
      #expect(read?.bitPattern == number.bitPattern, "\(text)")
    }
  }

  @Test("Dates agree with Foundation's calendar")
  func calendarAgrees() {
    // After 1582, where Foundation's calendar changes.
    for day in stride(from: -150_000, to: 2_000_000, by: 997) {
      let date = Date(timeIntervalSinceReferenceDate: Double(day) * 86_400 + 3723)
      #expect(DateText.exactText(date) == date.formatted(Date.ISO8601FormatStyle()))
    }
  }

  @Test("Forms of dates are read")
  func formsOfDates() {
    func seconds(_ text: String) -> Double? {
      DateText.parseExact(text) { $0 - 3600 }?.timeIntervalSinceReferenceDate
    }
    #expect(seconds("2001-01-01T02:30:00+02:00") == 1800)
    #expect(seconds("2001-01-01t02:30:00.5-0130") == 14_400.5)
    #expect(seconds("2001-01-01 02:30Z") == 9000)
    #expect(seconds("2001-01-01T00:00:00.000Z") == 0)
    #expect(seconds("2001-01-02") == 82_800)
    #expect(seconds("2001-01-02 00:00:00.25") == 82_800.25)
    #expect(seconds("2001-01-01 00:00:00.25") == -3599.75)
    #expect(seconds("0000-01-01") == seconds("0001-01-01").map { $0 - 366 * 86_400 })
    #expect(seconds("-0001-12-31") == seconds("0000-01-01").map { $0 - 86_400 })
    #expect(seconds("+010000-01-01T00:00:00Z") == 252_423_993_600)
    for text in [
      "2001-1-1", "-0000-01-01", "+2001-01-01", "-001-01-01", "+200000000001-01-01",
      "+99999999999999999999-01-01",
    ] { #expect(seconds(text) == nil, "\(text)") }
    #expect(seconds("2001-01-01T00:00:00+24:00") == nil)
  }
}
