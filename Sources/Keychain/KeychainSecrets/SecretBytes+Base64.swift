internal import CLibsodium

extension SecretBytes {
  /// Returns the bytes as base64 text after a prefix, for places that hold text only.
  ///
  /// The corresponding C function is `sodium_bin2base64`, which takes the same time for all bytes of
  /// one length.
  package borrowing func base64Encoded(after prefix: String) throws(SecretsError) -> SecretBytes {
    let start = prefix.utf8.count
    // The length includes a NUL at the end.
    let length = sodium_base64_encoded_len(count, sodium_base64_VARIANT_ORIGINAL)
    let encoded = try SecretBytes(zeroed: start + length)
    unsafe encoded.fill { output in
      unsafe withPointer { input in
        _ = unsafe sodium_bin2base64(
          UnsafeMutableRawPointer(output + start).assumingMemoryBound(to: CChar.self), length,
          input, count, sodium_base64_VARIANT_ORIGINAL)
      }
      for (offset, byte) in prefix.utf8.enumerated() { unsafe output[offset] = byte }
    }
    return try encoded.withBytes { bytes throws(SecretsError) in
      try SecretBytes(copying: bytes.extracting(0..<(start + length - 1)))
    }
  }

  /// Returns the bytes that base64 text encodes, or `nil` if it is not base64 text.
  ///
  /// The corresponding C function is `sodium_base642bin`.
  package borrowing func base64Decoded(after prefixCount: Int) throws(SecretsError) -> SecretBytes?
  {
    let textCount = count - prefixCount
    guard textCount >= 0 else { return nil }
    let decoded = try SecretBytes(zeroed: textCount / 4 * 3)
    var length = 0
    var result: CInt = 0
    unsafe decoded.fill { output in
      unsafe withPointer { input in
        result = unsafe sodium_base642bin(
          output, textCount / 4 * 3,
          UnsafeRawPointer(input + prefixCount).assumingMemoryBound(to: CChar.self), textCount,
          nil, &length, nil, sodium_base64_VARIANT_ORIGINAL)
      }
    }
    guard result == 0 else { return nil }
    return try decoded.withBytes { bytes throws(SecretsError) in
      try SecretBytes(copying: bytes.extracting(0..<length))
    }
  }
}
