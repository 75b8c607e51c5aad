extension String {
  /// Returns whether both strings have the same UTF-8 bytes; `==` uses canonical equivalence.
  package func hasSameBytes(as other: String) -> Bool {
    utf8.elementsEqual(other.utf8)
  }

  /// Returns whether this string's bytes order before the other's.
  package func hasLesserBytes(than other: String) -> Bool {
    utf8.lexicographicallyPrecedes(other.utf8)
  }

  package func hashUTF8(into hasher: inout Hasher) {
    hasher.combine(utf8.count)
    for byte in utf8 { hasher.combine(byte) }
  }
}
