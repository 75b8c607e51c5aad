internal import Glibc
internal import Testing

@testable internal import KeychainSecrets

/// Reads the real memory at an address from `/proc/self/mem`, regardless of Swift's view.
private func memory(at address: UInt, count: Int) -> [UInt8]? {
  let descriptor = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: count)
  return pread(descriptor, &bytes, count, Int(address)) == count ? bytes : nil
}

extension SecretBytes {
  fileprivate var address: UInt { withPointer { UInt(bitPattern: $0) } }
}

@Suite("Wiping")
struct MemoryWipingTests {
  // Runs in separate processes, where no other thread can reuse the memory meanwhile.

  @Test func slotIsWipedWhenTheValueGoes() async {
    await #expect(processExitsWith: .success) {
      func seenWhileAlive() throws -> UInt {
        let secret = try SecretBytes.random(count: 64)
        let address = secret.address
        try #require(memory(at: address, count: 64) == secret.array)
        return address
      }
      let address = try seenWhileAlive()
      try #require(memory(at: address, count: 64) == Array(repeating: 0, count: 64))
    }
  }

  @Test func largeValueIsUnmappedWhenItGoes() async {
    await #expect(processExitsWith: .success) {
      func seenWhileAlive() throws -> UInt {
        let secret = try SecretBytes.random(count: 5000)
        let address = secret.address
        try #require(memory(at: address, count: 5000) == secret.array)
        return address
      }
      let address = try seenWhileAlive()
      try #require(memory(at: address, count: 5000) == nil)
    }
  }

  @Test func failedInitialiserLeavesNothing() async {
    await #expect(processExitsWith: .success) {
      struct Refusal: Error {}
      var address: UInt = 0
      do {
        _ = try SecretBytes(count: 64) { span in
          for index in 0..<64 { span.storeBytes(of: 0xa5, toByteOffset: index, as: UInt8.self) }
          span.withUnsafeMutableBytes { address = UInt(bitPattern: $0.baseAddress) }
          try #require(memory(at: address, count: 64) == Array(repeating: 0xa5, count: 64))
          throw Refusal()
        }
      } catch is Refusal {}
      try #require(memory(at: address, count: 64) == Array(repeating: 0, count: 64))
    }
  }

  @Test func removedBytesOfABufferAreWiped() throws {
    var buffer = try SecretBuffer()
    var address: UInt = 0
    _ = try buffer.append(upTo: 8) { out, _ in
      address = UInt(bitPattern: out)
      out.update(repeating: 0xa5, count: 8)
      return 8
    }
    buffer.removeLast(3)
    #expect(memory(at: address, count: 8) == [0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0, 0, 0])
  }

  @Test func largeValueCannotBeWritten() async {
    await #expect(processExitsWith: .signal(SIGSEGV)) {
      let secret = try SecretBytes(counting(257))
      secret.fill { $0[0] = 1 }
    }
  }

  @Test func guardPageStopsAnOverrun() async {
    await #expect(processExitsWith: .signal(SIGSEGV)) {
      let secret = try SecretBytes(counting(257))
      secret.withPointer { try? #require($0[257 + 16] == 0) }
    }
  }
}
