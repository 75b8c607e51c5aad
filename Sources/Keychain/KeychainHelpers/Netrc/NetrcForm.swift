internal import KeychainSecrets

/// How a value is written, so that curl, Python and SwiftPM read the same.
enum NetrcForm {
  case plain
  case quoted

  /// Readers disagree about it; the reason continues "the password of HOST".
  case unwritable(String)

  /// The longest line that curl reads is 4,095 bytes long.
  static let maximumCount = 4000

  init(of value: borrowing SecretBytes) {
    self = value.withBytes { Self(of: $0) }
  }

  private init(of bytes: RawSpan) {
    guard bytes.byteCount > 0 else {
      self = .unwritable("is empty")
      return
    }
    guard bytes.byteCount <= Self.maximumCount else {
      self = .unwritable("has more than \(Self.maximumCount) bytes")
      return
    }
    guard let text = try? UTF8Span(validating: Span(_bytes: bytes)) else {
      self = .unwritable("is not UTF-8")
      return
    }
    var scalars = text.makeUnicodeScalarIterator()
    // Without quotes, curl and SwiftPM take it for a comment.
    var needsQuotes = bytes.byte(at: 0) == UInt8(ascii: "#")
    while let scalar = scalars.next() {
      if let reason = Self.objection(to: scalar) {
        self = .unwritable(reason)
        return
      }
      if scalar == " " { needsQuotes = true }
    }
    self = needsQuotes ? .quoted : .plain
  }

  private static func objection(to scalar: Unicode.Scalar) -> String? {
    switch scalar {
    case "\n", "\r": "has a line break"
    case "\"": "has a quote"
    case "\\": "has a backslash"
    case " ": nil
    default:
      switch scalar.properties.generalCategory {
      case .control: "has a control character"
      case _ where scalar.properties.isWhitespace: "has white space other than the blank"
      default: nil
      }
    }
  }
}
