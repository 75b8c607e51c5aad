internal import Foundation
internal import Prephirences
internal import Testing

/// Text is read as a number, and as a path, as `NSString` reads it.
@Suite("Numbers in text")
struct NumberTextTests {
  static let numbers = [
    "", " ", "0", "1", "9", "00", "01", "12abc", " 12", "\t12", "\n12", "\r\n5", "5\r\n", "+5",
    "-5",
    "+ 5", "- 5", "--5", "+-5", "1.5", "1.5e3", "1e5", "1E5", "1e", "1e+", "1e-2", "1.5ex", ".5",
    "-.5",
    "- .5", "5.", ".", "-.", "-", "+", "0x10", "0b1", "inf", "nan", "infinity", "1e400", "-1e400",
    "1e-400", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "-9223372036854775809", "99999999999999999999", "18446744073709551615", "٣", "١٢٣", "1٣", "１",
    "½", "0.1", "0.2", "0.3", "3.14159265358979", "123456789.123456789", "1,5", "1 2", "true",
    "True",
    "TRUE", "yes", "Yes", "y", "Y", "t", "no", "false", "on", "1true", "+yes", "0yes", "00a1",
    "tYt",
    "\nyes", "+ 0 5", "0 5", "0.5", "é1", "1é", "1\u{301}", "1😀", "1_000", "1e5.5", "1.2.3",
    "\u{2212}5", "4.9e-324", "1.7976931348623157e308", "2.2250738585072014e-308", "00012.5",
    "1e0005",
    "123456789012345678901234567890", "0.000000000000000000000000000001", "\0", "\u{0}1", "1\u{0}2",
    "-0", "-0.0", "+0.0", "1. 5", "1 e5", "1e 5",
  ]

  @Test(arguments: numbers)
  func numbersAreThoseOfFoundation(_ text: String) {
    let preferences = MinimalPreferences(["k": text])
    let expected = text as NSString
    #expect(preferences.integer(forKey: "k") == expected.integerValue)
    #expect(preferences.double(forKey: "k").bitPattern == expected.doubleValue.bitPattern)
    #expect(preferences.bool(forKey: "k") == expected.boolValue)
  }

  @Test func spacesAreThoseOfFoundation() {
    let different = (1...0xFFFF).compactMap(Unicode.Scalar.init(_:)).filter { scalar in
      let text = "\(scalar)5"
      let preferences = MinimalPreferences(["k": text])
      return preferences.integer(forKey: "k") != (text as NSString).integerValue
        || preferences.double(forKey: "k") != (text as NSString).doubleValue
    }
    #expect(different == [])
  }

  /// Foundation stops the process.
  @Test(arguments: ["😀", "😀5", "\u{1D7CF}"])
  func otherPlanesAreNotNumbers(_ text: String) {
    let preferences = MinimalPreferences(["k": text])
    #expect(preferences.integer(forKey: "k") == 0)
    #expect(preferences.double(forKey: "k") == 0)
    #expect(!preferences.bool(forKey: "k"))
  }

  @Test(arguments: [
    "~", "~/", "~/x", "~/x/", "~/x//", "~//x", "~root", "~root/", "~root/x", "~no-such-user/x",
    "~no-such-user/x/", "/~", "x/~", "/x/", "/x//", "//x", "/x/../y", "~/../x", "./x/", "~/.",
    "a//b", "~/a//b", "/", "//", "~/ä", "~\u{301}/x",
  ])
  func pathsAreThoseOfFoundation(_ path: String) {
    let preferences = MinimalPreferences(["k": path])
    #expect(
      preferences.url(forKey: "k")
        == URL(fileURLWithPath: (path as NSString).expandingTildeInPath))
  }
}
