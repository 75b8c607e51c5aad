extension String {
  /// The text with ASCII capitals as small letters; every other byte stays.
  package var foldingASCIICase: String {
    String(
      decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 },
      as: UTF8.self)
  }

  /// Returns whether both strings have the same UTF-8 bytes, apart from the case of ASCII letters.
  package func hasSameBytesFoldingASCIICase(as other: String) -> Bool {
    foldingASCIICase.hasSameBytes(as: other.foldingASCIICase)
  }
}
