internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

extension KeyFile {
  /// Reads a key file; `name` is how errors name its source.
  static func read(
    _ path: String, name: String, policy: SecretFilePolicy
  ) throws(KeychainError) -> SecretBytes {
    let contents = try SecretFile.named(path, name: name, policy: policy)
    guard contents.count >= KeyFile.counts.lowerBound else {
      throw KeychainError(
        .refused, "the key file \(path) has \(contents.count) bytes; it needs at least 32",
        recovery: "make one: head -c 32 /dev/urandom > FILE; chmod 600 FILE")
    }
    return contents
  }
}

/// Estimates how hard a key file that holds text is to guess.
///
/// Key files are hashed once and not stretched, because they should be random. A few words that a
/// person chose can be guessed fast. The estimate is deliberately simple:
///
/// - Contents that are not printable UTF-8 text count as random.
/// - A word is up to eight letters in a row, of one case or with an initial capital: 10 bits. A
///   single letter counts 4 bits, and two letters 8, as in the hexadecimal form of random bytes.
/// - A digit that differs from the previous character counts 3 bits, and a punctuation mark that
///   differs from the previous one 4. White space does not count.
///
/// Text with spaces in it is guessable below 100 bits, which are ten words. Text without could be an encoded
/// key, and is guessable below 75 bits: 32 random bytes in hexadecimal have 160 or more, in base 64 some 150.
struct KeyFileText {
  private var bits = 0
  private var letterCount = 0
  private var previous: (byte: UInt8, kind: Kind)?
  private var previousMark: UInt8?
  private var hasInnerSpace = false

  /// Whether the contents of a key file look like a few readable words.
  static func isGuessable(_ contents: borrowing SecretBytes) -> Bool {
    contents.withBytes { bytes in
      guard (try? UTF8Span(validating: Span<UInt8>(_bytes: bytes))) != nil else { return false }
      var text = KeyFileText()
      for offset in 0..<bytes.byteCount {
        let byte = bytes.byte(at: offset)
        guard let kind = Kind(byte) else { return false }
        text.add(byte, kind)
      }
      return text.bits + text.wordBits < (text.hasInnerSpace ? 100 : 75)
    }
  }

  private enum Kind {
    case lower, upper, digit, mark, space

    /// `nil` for control characters.
    init?(_ byte: UInt8) {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...: self = .lower
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): self = .upper
      case UInt8(ascii: "0")...UInt8(ascii: "9"): self = .digit
      case 0x09, 0x0A, 0x0D, 0x20: self = .space
      case 0x21...0x7E: self = .mark
      default: return nil
      }
    }
  }

  private mutating func add(_ byte: UInt8, _ kind: Kind) {
    if previous?.kind == .space, kind != .space, bits + letterCount > 0 { hasInnerSpace = true }
    switch (previous?.kind, kind) {
    case (.lower, .lower), (.upper, .upper): letterCount += 1
    case (.upper, .lower) where letterCount == 1: letterCount += 1
    default:
      bits += wordBits
      letterCount = kind == .lower || kind == .upper ? 1 : 0
      if kind == .digit, byte != previous?.byte { bits += 3 }
      if kind == .mark {
        if byte != previousMark { bits += 4 }
        previousMark = byte
      }
    }
    previous = (byte, kind)
  }

  /// The bits of the word that was begun.
  private var wordBits: Int {
    letterCount <= 2 ? 4 * letterCount : 10 * ((letterCount + 7) / 8)
  }
}
