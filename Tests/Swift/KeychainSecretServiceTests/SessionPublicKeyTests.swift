import Testing

@testable import KeychainSecretService

@Suite("Public keys of sessions")
struct SessionPublicKeyTests {
  /// The prime of the second Oakley group, from RFC 2409 6.2.
  private static let prime = bytes(
    """
    FFFFFFFF FFFFFFFF C90FDAA2 2168C234 C4C6628B 80DC1CD1 29024E08 8A67CC74 020BBEA6 3B139B22 514A0879 8E3404DD
    EF9519B3 CD3A431B 302B0A6D F25F1437 4FE1356D 6D51C245 E485B576 625E7EC6 F44C42E9 A637ED6B 0BFF5CB6 F406B7ED
    EE386BFB 5A899FA5 AE9F2411 7C4B1FE6 49286651 ECE65381 FFFFFFFF FFFFFFFF
    """)

  private static func bytes(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map {
      UInt8(digits[$0] * 16 + digits[$0 + 1])
    }
  }

  /// Returns the prime with another last byte.
  private static func nearPrime(_ last: UInt8) -> [UInt8] { prime.dropLast() + [last] }

  @Test func thePrimeHasItsLength() { #expect(Self.prime.count == 128) }

  @Test func publiclyComputableKeysAreRefused() {
    let zeros = [UInt8](repeating: 0, count: 127)
    let unsound: [[UInt8]] = [
      [], [0], [1], [2], zeros, zeros + [0], zeros + [1], zeros + [2], Self.prime,
      Self.nearPrime(0xFE), [UInt8](repeating: 0xFF, count: 128),
      [UInt8](repeating: 5, count: 1_000_000),
      [UInt8](repeating: 5, count: 129), [0] + [UInt8](repeating: 5, count: 128),
      [UInt8](repeating: 5, count: 63), zeros.prefix(65) + [UInt8](repeating: 5, count: 63),
    ]
    for key in unsound.enumerated() {
      #expect(!SessionPublicKey.isSound(key.element), "key \(key.offset)")
    }
  }

  @Test func soundKeysAreAccepted() {
    let sound: [[UInt8]] = [
      Self.nearPrime(0xFD), [UInt8](repeating: 5, count: 128), [UInt8](repeating: 5, count: 127),
      [UInt8](repeating: 5, count: 64), [0, 0] + [UInt8](repeating: 5, count: 126),
    ]
    for key in sound { #expect(SessionPublicKey.isSound(key)) }
  }
}
