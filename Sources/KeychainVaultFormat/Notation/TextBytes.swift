internal import KeychainSecrets

/// Reads text as bytes, for text that must not become a string.
package enum TextBytes {
  /// Whether a byte is white space in the format.
  package static func isWhiteSpace(_ byte: UInt8) -> Bool { 9...13 ~= byte || byte == 32 }

  /// Returns the range of a text without the white space at its ends.
  package static func trimmed(_ text: RawSpan) -> Range<Int> {
    var range = 0..<text.byteCount
    while let first = range.first, isWhiteSpace(text.byte(at: first)) { range.removeFirst() }
    while let last = range.last, isWhiteSpace(text.byte(at: last)) { range.removeLast() }
    return range
  }

  /// Whether a text begins with a prefix in small letters, ignoring its case.
  package static func begins(_ text: RawSpan, with prefix: String) -> Bool {
    let prefix = Array(prefix.utf8)
    return text.byteCount >= prefix.count
      && prefix.indices.allSatisfy { index in
        let byte = text.byte(at: index)
        return (65...90 ~= byte ? byte + 32 : byte) == prefix[index]
      }
  }
}
