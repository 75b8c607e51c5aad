import Foundation
import PrephirencesSystem
import Testing

@Suite("Base64, hexadecimal digits and percent coding, as Foundation has them")
struct CodingTests {
  @Test(arguments: 0..<70)
  func base64IsFoundations(_ count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
    let text = bytes.base64
    #expect(text == Data(bytes).base64EncodedString())
    #expect([UInt8](base64: Array(text.utf8)[...]) == bytes)
  }

  @Test(arguments: ["A", "AA", "AAA", "A===", "AA=A", "====", "AA==AA==", "AA=\n", "A\u{e4}A"])
  func brokenBase64IsRefused(_ text: String) {
    #expect([UInt8](base64: Array(text.utf8)[...]) == nil)
  }

  @Test func hexadecimalDigitsComeBack() {
    let bytes = (0...255).map { UInt8($0) }
    #expect(bytes.hexadecimal == bytes.map { String(format: "%02x", $0) }.joined())
    #expect([UInt8](hexadecimal: bytes.hexadecimal.utf8) == bytes)
    #expect([UInt8](hexadecimal: bytes.hexadecimal.uppercased().utf8) == bytes)
    #expect([UInt8](hexadecimal: "".utf8) == [])
  }

  @Test(arguments: ["0", "0g", "+1", " 12", "1\u{e4}"])
  func otherDigitsAreRefused(_ text: String) {
    #expect([UInt8](hexadecimal: text.utf8) == nil)
  }

  @Test(arguments: ["", "a b", "\u{e4}/%", "~-._0Z", "\u{1f600}\n"])
  func percentCodingIsFoundations(_ text: String) {
    let unreserved = CharacterSet(
      charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
    let coded = text.percentEncoded()
    #expect(coded == text.addingPercentEncoding(withAllowedCharacters: unreserved))
    #expect(coded.percentDecoded == text)
  }
}
