internal import KeychainCredentials
internal import KeychainSecrets

/// Encodes bytes so that every provider preserves them.
///
/// No provider preserves all bytes. gnome-keyring's keyrings without a password lose everything at
/// the next start if one value contains a line break, and they convert `
/// ` or `\s` in a secret to a line break or a space. KeePassXC stores text without control
/// characters, and replaces `{USERNAME}` and similar text by other fields. KWallet stores UTF-8.
/// Text that a provider could change, or that looks like a data URL, is written as a data URL (RFC
/// 2397). Everything else is written unchanged, so that other programs can read it.
enum StoredText {
  static let prefix = "data:application/octet-stream;base64,"

  /// Returns the secret in its stored form.
  static func encode(_ secret: borrowing SecretBytes) throws(KeychainError) -> SecretBytes {
    let isSafe = secret.withBytes { isKeptByEveryone($0) }
    return try translated(secrets: isSafe ? secret.copy() : secret.base64Encoded(after: prefix))
  }

  /// Returns the original secret; `nil` if the stored form is damaged.
  static func decode(_ stored: consuming SecretBytes) throws(KeychainError) -> SecretBytes? {
    guard stored.withBytes({ starts($0, with: prefix) }) else { return stored }
    return try translated(secrets: stored.base64Decoded(after: prefix.utf8.count))
  }

  /// Returns a name in its stored form, by the same rule.
  static func encode(_ name: String) -> String {
    let bytes = Array(name.utf8)
    return unsafe isKeptByEveryone(bytes.span.bytes) ? name : prefix + Base64.encode(bytes)
  }

  static func isKeptByEveryone(_ name: String) -> Bool {
    unsafe isKeptByEveryone(Array(name.utf8).span.bytes)
  }

  private static func isKeptByEveryone(_ bytes: RawSpan) -> Bool {
    guard bytes.isUTF8, !starts(bytes, with: prefix), !starts(bytes, with: " "),
      !starts(bytes, with: "\u{FEFF}")
    else { return false }
    var previous: (UInt8, UInt8) = (0, 0)
    for index in 0..<bytes.byteCount {
      let byte = bytes.byte(at: index)
      switch (previous.0, previous.1, byte) {
      case (_, _, 0..<0x20), (_, _, 0x7F), (_, _, UInt8(ascii: "\\")): return false
      // U+0080 to U+009F are control characters, too, and U+FFFE and U+FFFF are not characters.
      case (_, 0xC2, 0x80..<0xA0), (0xEF, 0xBF, 0xBE...0xBF): return false
      case (_, UInt8(ascii: "{"), UInt8(ascii: "A")...UInt8(ascii: "Z")): return false
      case (_, UInt8(ascii: "{"), UInt8(ascii: "a")...UInt8(ascii: "z")): return false
      default: previous = (previous.1, byte)
      }
    }
    return true
  }

  private static func starts(_ bytes: RawSpan, with prefix: String) -> Bool {
    let count = prefix.utf8.count
    guard bytes.byteCount >= count else { return false }
    return prefix.utf8.enumerated().allSatisfy { bytes.byte(at: $0.offset) == $0.element }
  }
}

extension RawSpan {
  fileprivate var isUTF8: Bool {
    unsafe withUnsafeBytes { buffer in
      let bytes = unsafe buffer.bindMemory(to: UInt8.self)
      return (try? unsafe UTF8Span(validating: bytes.span)) != nil
    }
  }
}
