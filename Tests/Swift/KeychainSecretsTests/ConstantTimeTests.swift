internal import Testing

@testable internal import KeychainSecrets

@Suite("Constant-time comparison")
struct ConstantTimeTests {
  @Test(
    "Equal is equal, to the last bit",
    arguments: [
      ([], [], true), ([0], [], false), ([1, 2, 3], [1, 2, 3], true), ([1, 2, 3], [1, 2], false),
      ([1, 2, 3], [129, 2, 3], false), ([1, 2, 3], [1, 2, 2], false),
    ] as [([UInt8], [UInt8], Bool)])
  func equalIsEqual(left: [UInt8], right: [UInt8], expected: Bool) throws {
    #expect(ConstantTime.equal(left.span.bytes, right.span.bytes) == expected)
    let secret = try SecretBytes(left)
    let other = try SecretBytes(right)
    let result = secret.isEqual(to: other)
    #expect(result == expected)
  }
}
