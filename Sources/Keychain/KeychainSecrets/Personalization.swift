internal import CLibsodium

/// A label, padded with zeros to the 16 bytes of a personalisation.
struct Personalization {
  /// The bytes in little-endian order.
  private let words: (UInt64, UInt64)

  /// Fails with ``SecretsError/Code/invalidLength`` if a label has more than
  /// ``KeyDerivation/maximumLabelCount`` bytes.
  init(_ label: String) throws(SecretsError) {
    var words: (UInt64, UInt64) = (0, 0)
    var count: UInt64 = 0
    for byte in label.utf8 {
      guard count < KeyDerivation.maximumLabelCount else { throw SecretsError(.invalidLength) }
      if count < 8 {
        words.0 |= UInt64(byte) << (8 * count)
      } else {
        words.1 |= UInt64(byte) << (8 * (count - 8))
      }
      count += 1
    }
    self.words = (words.0.littleEndian, words.1.littleEndian)
  }

  var bytes: [UInt8] {
    unsafe withPointer { unsafe Array(UnsafeBufferPointer(start: $0, count: 16)) }
  }

  func withPointer<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
    unsafe withUnsafeBytes(of: words) { words in
      unsafe RawSpan(_unsafeBytes: words).withPointer { start, _ in unsafe body(start) }
    }
  }
}
