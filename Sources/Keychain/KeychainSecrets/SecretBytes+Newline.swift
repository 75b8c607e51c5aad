extension SecretBytes {
  /// Returns the number of bytes of one newline at the end: 2 with a carriage return, 0 if there is
  /// none.
  package borrowing func trailingNewlineCount() -> Int {
    withBytes { bytes in
      let count = bytes.byteCount
      guard count > 0, bytes.byte(at: count - 1) == UInt8(ascii: "\n") else { return 0 }
      return count > 1 && bytes.byte(at: count - 2) == UInt8(ascii: "\r") ? 2 : 1
    }
  }

  /// Returns the bytes without one newline at the end, such as editors and `echo` add.
  package borrowing func droppingTrailingNewline() throws(SecretsError) -> SecretBytes {
    let kept = count - trailingNewlineCount()
    return try withBytes { bytes throws(SecretsError) in
      try SecretBytes(copying: bytes.extracting(0..<kept))
    }
  }
}
