internal import Testing

@testable internal import KeychainSecrets

@Suite("Growing buffer")
struct SecretBufferTests {
  @Test func bytesComeBackInOrder() throws {
    var buffer = try SecretBuffer()
    for byte in counting(5000) { try buffer.append(byte) }
    try buffer.append(counting(70_000).span.bytes)
    try buffer.append(counting(0).span.bytes)
    #expect(buffer.count == 75_000)
    #expect(try buffer.finish().array == counting(5000) + counting(70_000))
  }

  @Test func emptyBufferIsAnEmptySecret() throws {
    let buffer = try SecretBuffer()
    #expect(buffer.last == nil)
    #expect(try buffer.finish().count == 0)
  }

  @Test(
    "The last bytes can be taken back",
    arguments: [(0, 5), (-3, 5), (2, 3), (5, 0), (9, 0), (Int.min, 5), (Int.max, 0)])
  func lastBytesCanBeTakenBack(removed: Int, kept: Int) throws {
    var buffer = try SecretBuffer()
    try buffer.append(counting(5).span.bytes)
    buffer.removeLast(removed)
    #expect(buffer.count == kept)
    #expect(buffer.last == counting(kept).last)
    try buffer.append(0xff)
    #expect(try buffer.finish().array == counting(kept) + [0xff])
  }
}
