import Testing

@testable import KeychainSecretService

@Suite("The headers of messages on the bus")
struct BusMessageHeaderTests {
  /// A reply of the type `ao` to call 7, as the specification writes it.
  private static func reply(isBigEndian: Bool) -> [UInt8] {
    func number(_ value: UInt8) -> [UInt8] { isBigEndian ? [0, 0, 0, value] : [value, 0, 0, 0] }
    let sender: [UInt8] =
      [7, 1, UInt8(ascii: "s"), 0] + number(4) + Array(":1.0".utf8) + [0, 0, 0, 0]
    let serial: [UInt8] = [5, 1, UInt8(ascii: "u"), 0] + number(7)
    let signature: [UInt8] = [8, 1, UInt8(ascii: "g"), 0, 2] + Array("ao".utf8) + [0]
    // Three zeros end the sender, and the last field ends without any.
    let fields = sender + serial + signature
    return [UInt8(ascii: isBigEndian ? "B" : "l"), 2, 0, 1] + number(44) + number(9)
      + number(UInt8(fields.count)) + fields
  }

  @Test(arguments: [false, true])
  func aReplySaysWhatItIs(isBigEndian: Bool) throws {
    let bytes = Self.reply(isBigEndian: isBigEndian)
    var header = try #require(BusMessageHeader(fixed: bytes[...]))
    #expect(header.kind == .reply && header.bodyCount == 44)
    #expect(header.headerCount == bytes.count)
    let isValid = header.read(fields: bytes[...])
    #expect(isValid && header.replySerial == 7 && header.signature == "ao")
  }

  @Test func anErrorAnswersTheSameCall() throws {
    let bytes = Self.reply(isBigEndian: false)
    var header = try #require(BusMessageHeader(fixed: bytes[...]))
    _ = header.read(fields: bytes[...])
    let answer = header.error(named: "org.example.Error.E")
    var error = try #require(BusMessageHeader(fixed: answer[...]))
    #expect(error.read(fields: answer[...]) && error.replySerial == 7)
    #expect(error.kind == .error && error.bodyCount == 0 && error.headerCount == answer.count)
  }

  @Test func invalidHeadersAreRefused() {
    var bytes = Self.reply(isBigEndian: false)
    #expect(BusMessageHeader(fixed: bytes[..<15]) == nil)
    for (offset, value) in [(0, UInt8(ascii: "x")), (3, 2), (7, 0xFF), (15, 0xFF)] {
      let old = bytes[offset]
      bytes[offset] = value
      #expect(BusMessageHeader(fixed: bytes[...]) == nil, "\(offset)")
      bytes[offset] = old
    }
  }

  /// Whatever a bus sends, nothing outside of the header is read.
  @Test func randomFieldsEndNothing() throws {
    var random = SystemRandomNumberGenerator()
    let valid = Self.reply(isBigEndian: false)
    for _ in 0..<20_000 {
      var bytes = valid
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        bytes[Int.random(in: 16..<bytes.count, using: &random)] = .random(
          in: 0...255, using: &random)
      }
      // In the middle of others, as they are received.
      let slice = ([0, 0, 0] + bytes)[3...]
      var header = try #require(BusMessageHeader(fixed: slice))
      _ = header.read(fields: slice)
    }
  }
}
