import Foundation
import PreferencesCore
import Testing

@Suite("Addresses as a person writes them")
struct WrittenURLTests {
  @Test(arguments: [
    "http://ä.example/x", "http://Ä.EXAMPLE", "http://日本.jp/", "http://faß.de",
    "http://bücher.straße.example:80/ä?ü#ö",
    "https://user:pw@ö.example:8443/", "http://παράδειγμα.example", "http://пример.испытание/",
    "http://उदाहरण.example",
    "http://a b/", "http://a%zz/", "http://a\\b/", "http://a/b c", "http://[::1]/", "http://a.b./",
    "http://a_b-c/",
    "mailto:ä@example.com", "file:///ä", "//ä.example/", "/ä", "ä", "urn:isbn:1", "http:///x",
    "http://@h/", "a:b", "",
    "http://a:99999/", "http://u@/x", "http://x@y@z/", "http://☃.example", "http://a%41.example/",
  ])
  func addressesAreThoseOfFoundation(_ text: String) {
    #expect(URL(written: text)?.absoluteString == URL(string: text)?.absoluteString)
  }

  /// Foundation maps these to others.
  @Test(arguments: [
    "http://ａ.example", "http://a。b", "http://e\u{301}.example", "http://\u{200B}ä/",
  ])
  func hostsThatStandForOthersAreNone(_ text: String) {
    #expect(URL(written: text) == nil)
  }

  @Test func longLabelsAreNone() {
    #expect(URL(written: "http://" + String(repeating: "ä", count: 64) + "/") == nil)
    #expect(URL(written: "http://" + String(repeating: "日", count: 2000) + "/") == nil)
  }
}
