internal import Glibc
internal import Testing

@testable internal import KeychainSecrets

/// Holds a secret; arrays need a copyable type.
private final class Holder {
  let secret: SecretBytes
  init(_ byte: UInt8) throws { secret = try SecretBytes([byte]) }

  /// Fills a whole slot.
  init(_ byte: UInt8, _ pool: SecretSlabPool) throws {
    secret = try SecretBytes(Array(repeating: byte, count: pool.slotSize))
  }
}

@Suite("Shared slabs")
struct SecretSlabTests {
  // Runs in a separate process, because other tests use the process's slabs meanwhile.
  @Test func slotsAreUsedAgain() async {
    await #expect(processExitsWith: .success) {
      for round in 0..<100_000 {
        _ = try Holder(UInt8(truncatingIfNeeded: round))
      }
      try #require(SecretSlabPool.short.countWithRoom == 1)
    }
  }

  @Test func emptiedSlabsAreGivenBack() async {
    await #expect(processExitsWith: .success) {
      var holders = try (0..<100_000).map { try Holder(UInt8(truncatingIfNeeded: $0)) }
      try #require(
        holders.indices.allSatisfy { holders[$0].secret.array == [UInt8(truncatingIfNeeded: $0)] })
      try #require(SecretSlabPool.short.countWithRoom <= 1)
      holders.removeAll()
      try #require(SecretSlabPool.short.countWithRoom == 1)
    }
  }

  @Test(arguments: [SecretSlabPool.short, .padded])
  func neighboursDoNotOverlap(_ pool: SecretSlabPool) throws {
    let holders = try (0..<3 * pool.slotCount).map {
      try Holder(UInt8(truncatingIfNeeded: $0), pool)
    }
    for (index, holder) in holders.enumerated() {
      let byte = UInt8(truncatingIfNeeded: index)
      #expect(holder.secret.array == Array(repeating: byte, count: pool.slotSize))
    }
  }
}
