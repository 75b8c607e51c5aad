internal import Glibc
internal import Testing

@testable internal import KeychainSecrets

/// Holds a secret, as an array of a copyable type must.
private final class Holder {
  let secret: SecretBytes
  init(_ byte: UInt8) throws { secret = try SecretBytes([byte]) }
}

@Suite("Shared slabs")
struct SecretSlabTests {
  // In a process of its own: the slabs are the process's, and other tests use them meanwhile.
  @Test func slotsAreUsedAgain() async {
    await #expect(processExitsWith: .success) {
      for round in 0..<100_000 {
        _ = try Holder(UInt8(truncatingIfNeeded: round))
      }
      try #require(SecretSlab.countWithRoom == 1)
    }
  }

  @Test func emptiedSlabsAreGivenBack() async {
    await #expect(processExitsWith: .success) {
      var holders = try (0..<100_000).map { try Holder(UInt8(truncatingIfNeeded: $0)) }
      try #require(
        holders.indices.allSatisfy { holders[$0].secret.array == [UInt8(truncatingIfNeeded: $0)] })
      try #require(SecretSlab.countWithRoom <= 1)
      holders.removeAll()
      try #require(SecretSlab.countWithRoom == 1)
    }
  }

  @Test func neighboursDoNotOverlap() throws {
    let holders = try (0..<3 * SecretSlab.slotCount).map { _ in
      try SecretBytes.random(count: SecretSlab.slotSize).array
    }
    #expect(Set(holders).count == holders.count)
  }
}
