internal import KeychainSecrets

extension SecretBuffer {
  /// Appends text as it is.
  mutating func append(_ text: String) throws(SecretsError) {
    for unit in text.utf8 { try append(unit) }
  }

  /// Appends a string of JSON: with quotes, and with escapes where they are needed.
  ///
  /// The bytes are text in UTF-8; what is not ASCII stays as it is.
  mutating func appendJSON(_ text: RawSpan) throws(SecretsError) {
    try append(UInt8(ascii: "\""))
    for offset in 0..<text.byteCount {
      let byte = text.byte(at: offset)
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        try append(UInt8(ascii: "\\"))
        try append(byte)
      case ..<0x20, 0x7F:
        let digits = String(byte, radix: 16, uppercase: true)
        try append("\\u00" + (digits.utf8.count < 2 ? "0" : "") + digits)
      default: try append(byte)
      }
    }
    try append(UInt8(ascii: "\""))
  }

  /// Appends a string of JSON.
  mutating func appendJSON(_ text: String) throws(SecretsError) {
    var text = text
    text.makeContiguousUTF8()
    try appendJSON(text.utf8Span.span.bytes)
  }
}
