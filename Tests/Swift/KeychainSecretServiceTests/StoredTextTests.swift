import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainSecretService

@Suite("Text that every provider keeps")
struct StoredTextTests {
  private func stored(_ secret: [UInt8]) throws -> [UInt8] {
    let bytes = try SecretBytes(copying: secret.span.bytes)
    return try StoredText.encode(bytes).withBytes { $0.array }
  }

  @Test(arguments: [
    "", "hunter2", "trailing ", "ünï \u{1F511}", #"{"json": [1, 2]}"#, "{", "{}", "{ {1", "data:,x",
    "%5C", "a=b;#", "e\u{301}",
  ])
  func plainTextStaysReadable(_ text: String) throws {
    #expect(try stored(Array(text.utf8)) == Array(text.utf8))
    #expect(StoredText.encode(text).utf8.elementsEqual(text.utf8))
  }

  @Test(arguments: [
    "\n", "a\nb", "a\0", "\t", "\u{7F}", "\u{85}", #"back\slash"#, " leading", "{USERNAME}", "x{a",
    StoredText.prefix, StoredText.prefix + "QQ==", "\u{FEFF}mark", "\u{FFFE}", "\u{FFFF}x",
  ])
  func textThatAProviderChangesIsEncoded(_ text: String) throws {
    let encoded = try stored(Array(text.utf8))
    #expect(encoded.starts(with: Array(StoredText.prefix.utf8)))
    #expect(encoded.elementsEqual(StoredText.encode(text).utf8))
    let decoded = try StoredText.decode(SecretBytes(copying: encoded.span.bytes))?.withBytes {
      $0.array
    }
    #expect(decoded == Array(text.utf8))
  }

  @Test func anyBytesComeBack() throws {
    for count in 0..<70 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: 255 - $0 * 7) }
      let encoded = try stored(bytes)
      let decoded = try StoredText.decode(SecretBytes(copying: encoded.span.bytes))?.withBytes {
        $0.array
      }
      #expect(decoded == bytes)
    }
  }

  @Test func damagedBase64IsRefused() throws {
    for text in ["QQ", "Q===", "Q*==", "QQ==x", "\n"] {
      let damaged = try StoredText.decode(SecretBytes(copying: StoredText.prefix + text))
      let isNothing = damaged == nil
      #expect(isNothing, "\(text)")
    }
  }
}
