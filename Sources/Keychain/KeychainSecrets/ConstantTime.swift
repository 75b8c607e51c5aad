internal import CLibsodium

/// Comparison in constant time, wherever the first difference is.
public enum ConstantTime {
  /// Returns whether two byte strings are equal; their lengths are not hidden.
  ///
  /// The corresponding C function is `sodium_memcmp`.
  ///
  /// - Parameters:
  ///   - left: One byte string.
  ///   - right: The other.
  /// - Returns: `true` if lengths and bytes are equal.
  public static func equal(_ left: RawSpan, _ right: RawSpan) -> Bool {
    guard left.byteCount == right.byteCount else { return false }
    return unsafe left.withPointer { left, count in
      unsafe right.withPointer { right, _ in
        unsafe sodium_memcmp(left, right, count) == 0
      }
    }
  }
}

extension SecretBytes {
  /// Returns whether two secrets are equal, in time that reveals only their lengths.
  ///
  /// - Parameter other: The secret to compare with.
  /// - Returns: `true` if lengths and bytes are equal.
  public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
    withBytes { mine in other.withBytes { ConstantTime.equal(mine, $0) } }
  }
}
