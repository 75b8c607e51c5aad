/// Padding that hides all but the magnitude of a length.
///
/// A padded text is the length of the data (32 bits, little-endian), the data, then zeros: to 256
/// bytes in all, above that to the next Padmé length, which is at most 12 % longer.
///
/// Source of Padmé: Nikitin et al., "Reducing Metadata Leakage from Encrypted Files and
/// Communication with PURBs", section 4.3.
package enum Padding {
  package static let headerCount = 4
  static let minimumCount = 256

  /// Returns the number of bytes that `count` bytes of data take when padded, header included.
  package static func paddedCount(for count: Int) -> Int {
    let needed = count + headerCount
    guard needed > minimumCount else { return minimumCount }
    let exponent = needed.bitWidth - 1 - needed.leadingZeroBitCount
    let exponentBits = exponent.bitWidth - exponent.leadingZeroBitCount
    let mask = (1 << (exponent - exponentBits)) - 1
    return (needed + mask) & ~mask
  }

  /// Pads data.
  ///
  /// Returns the padded text, in guarded memory.
  package static func pad(_ data: borrowing SecretBytes) throws(SecretsError) -> SecretBytes {
    guard let length = UInt32(exactly: data.count) else { throw SecretsError(.invalidLength) }
    let count = data.count
    let padded = try SecretBytes(zeroed: paddedCount(for: count))
    unsafe padded.fill { out in
      for index in 0..<headerCount {
        unsafe out[index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index)))
      }
      unsafe data.withPointer { unsafe (out + headerCount).update(from: $0, count: count) }
    }
    padded.protect()
    return padded
  }

  /// Removes the padding.
  ///
  /// Returns the data, in guarded memory.
  package static func unpad(_ padded: borrowing SecretBytes) throws(SecretsError) -> SecretBytes {
    try padded.withBytes { bytes throws(SecretsError) in
      guard let range = range(in: bytes) else { throw SecretsError(.invalidLength) }
      return try SecretBytes(copying: bytes.extracting(range))
    }
  }

  /// Returns where the data lies in a padded text.
  ///
  /// Returns the range, or `nil` if the length, the number of zeros or a zero is wrong.
  package static func range(in padded: RawSpan) -> Range<Int>? {
    guard padded.byteCount >= minimumCount else { return nil }
    let count = Int(padded.littleEndian(at: 0, as: UInt32.self))
    guard count <= padded.byteCount - headerCount, paddedCount(for: count) == padded.byteCount
    else { return nil }
    var rest: UInt8 = 0
    for offset in (headerCount + count)..<padded.byteCount { rest |= padded.byte(at: offset) }
    return rest == 0 ? headerCount..<(headerCount + count) : nil
  }
}
