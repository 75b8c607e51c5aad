internal import Testing

@testable internal import KeychainSecrets

@Suite("Guarded memory")
struct SecretBytesTests {
  // 64 and 256 bytes are the largest lengths of two kinds of slab; 16 MiB is the longest secret of
  // a vault.
  static let lengths = [0, 1, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097, 16 << 20]

  @Test("Bytes come back as they were put in", arguments: lengths)
  func bytesComeBack(length: Int) throws {
    let expected = counting(length)
    let copied = try SecretBytes(expected)
    let filled = try SecretBytes(count: length) { span in
      #expect(span.byteCount == length)
      for index in 0..<length {
        span.storeBytes(of: expected[index], toByteOffset: index, as: UInt8.self)
      }
    }
    let again = try filled.copy()
    #expect(copied.count == length)
    #expect(copied.array == expected)
    #expect(filled.array == expected)
    #expect(again.array == expected)
  }

  @Test("Memory is zero before it is filled", arguments: [1, 64, 65, 256, 5000])
  func memoryIsZeroBeforehand(length: Int) throws {
    for _ in 0..<20 {
      _ = try SecretBytes(Array(repeating: 0xff, count: length))
      let fresh = try SecretBytes(zeroed: length)
      #expect(fresh.array.allSatisfy { $0 == 0 })
    }
  }

  @Test func textIsItsBytes() throws {
    let text = "Zoë 🔑\u{0}\n"
    #expect(try SecretBytes(copying: text).array == Array(text.utf8))
    #expect(try SecretBytes(copying: "").count == 0)
  }

  @Test func randomBytesDiffer() throws {
    let one = try SecretBytes.random(count: 32)
    let other = try SecretBytes.random(count: 32)
    #expect(one.count == 32)
    #expect(one.isEqual(to: other) == false)
    #expect(try SecretBytes.random(count: 0).count == 0)
  }

  @Test func negativeCountIsRefused() {
    #expect(throws: KeychainError.wrongLength) {
      _ = try SecretBytes(count: -1) { _ in Issue.record("the body must not run") }
    }
    #expect(throws: KeychainError.wrongLength) { _ = try SecretBytes.random(count: -1) }
  }

  @Test("What no machine has is refused, not trapped on", arguments: [1 << 46, Int.max])
  func impossibleCountIsRefused(length: Int) {
    #expect(throws: KeychainError.outOfMemory) {
      _ = try SecretBytes(count: length) { _ in Issue.record("the body must not run") }
    }
  }

  @Test("What the initialising body throws is passed on", arguments: [32, 100])
  func bodyErrorIsPassedOn(length: Int) {
    struct Refusal: Error, Equatable {}
    #expect(throws: Refusal()) {
      _ = try SecretBytes(count: length) { _ in throw Refusal() }
    }
  }

  @Test func copyOutlivesTheOriginal() throws {
    func copyOfShortLived() throws -> SecretBytes { try SecretBytes(counting(40)).copy() }
    #expect(try copyOfShortLived().array == counting(40))
  }

  @Test func manyThreadsMakeReadAndDrop() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          for round in 0..<2000 {
            let expected = Array(repeating: UInt8(truncatingIfNeeded: worker + round), count: 48)
            let secret = try SecretBytes(expected)
            try #require(secret.array == expected)
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
