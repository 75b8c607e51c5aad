/// A provider's public key: a number of the second Oakley group (RFC 2409, 6.2).
enum SessionPublicKey {
  /// The length of the group's prime.
  static let maximumCount = 128

  /// A random key is shorter than this with probability 2⁻⁵¹².
  private static let minimumCount = 64

  /// Returns whether the resulting key is secret.
  ///
  /// All powers of 0, 1 and p − 1 are 0, 1 or p − 1, whatever the exponent; the power of a small
  /// number follows from what the other side sends in clear. Leading zeros may be missing.
  static func isSound(_ bytes: [UInt8]) -> Bool {
    let digits = bytes.drop { $0 == 0 }
    guard bytes.count <= maximumCount, digits.count >= minimumCount else { return false }
    let key = Array(repeating: 0, count: maximumCount - digits.count) + digits
    return key.lexicographicallyPrecedes(primeMinusOne)
  }

  private static let primeMinusOne: [UInt8] = {
    let words: [UInt64] = [
      0xFFFF_FFFF_FFFF_FFFF, 0xC90F_DAA2_2168_C234, 0xC4C6_628B_80DC_1CD1, 0x2902_4E08_8A67_CC74,
      0x020B_BEA6_3B13_9B22, 0x514A_0879_8E34_04DD, 0xEF95_19B3_CD3A_431B, 0x302B_0A6D_F25F_1437,
      0x4FE1_356D_6D51_C245, 0xE485_B576_625E_7EC6, 0xF44C_42E9_A637_ED6B, 0x0BFF_5CB6_F406_B7ED,
      0xEE38_6BFB_5A89_9FA5, 0xAE9F_2411_7C4B_1FE6, 0x4928_6651_ECE6_5381, 0xFFFF_FFFF_FFFF_FFFE,
    ]
    return words.flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
    }
  }()
}
