internal import KeychainCredentials
internal import KeychainSecrets

/// The format around a marker, whose rules a secret must follow.
enum TemplateForm: String, CaseIterable, Sendable {
  case json, yaml, shell, url

  /// Returns why no text of this form can contain a secret; `nil` if it can.
  func objection(to secret: RawSpan) -> String? {
    switch self {
    case .json, .yaml: secret.text == nil ? "is not valid UTF-8, as \(rawValue) has to be" : nil
    case .shell:
      (0..<secret.byteCount).contains { secret.byte(at: $0) == 0 }
        ? "has a NUL, which a shell cannot hold" : nil
    case .url: nil
    }
  }

  /// Writes a secret; it fails only if memory is short.
  func write(
    _ secret: RawSpan, within quote: UInt8?, to buffer: inout SecretBuffer
  ) throws(KeychainError) {
    switch (self, quote) {
    case (.json, nil), (.yaml, nil): try buffer.appendJSON(secret)
    case (.json, _), (.yaml, _): try buffer.appendJSONCharacters(secret)
    case (.shell, UInt8(ascii: "\"")): try Self.append(secret, to: &buffer, Self.doubleQuoted)
    case (.shell, nil):
      try buffer.append("'")
      try Self.append(secret, to: &buffer, Self.singleQuoted)
      try buffer.append("'")
    case (.shell, _): try Self.append(secret, to: &buffer, Self.singleQuoted)
    case (.url, _): try Self.append(secret, to: &buffer, Self.percentEncoded)
    }
  }

  /// Appends bytes, each unchanged or as the text that stands for it.
  private static func append(
    _ bytes: RawSpan, to buffer: inout SecretBuffer, _ text: (UInt8) -> String?
  ) throws(KeychainError) {
    for offset in 0..<bytes.byteCount {
      let byte = bytes.byte(at: offset)
      if let text = text(byte) { try buffer.append(text) } else { try buffer.append(byte) }
    }
  }

  private static func singleQuoted(_ byte: UInt8) -> String? {
    byte == UInt8(ascii: "'") ? #"'\''"# : nil
  }

  private static func doubleQuoted(_ byte: UInt8) -> String? {
    switch byte {
    case UInt8(ascii: "\""): #"\""#
    case UInt8(ascii: "$"): #"\$"#
    case UInt8(ascii: "`"): #"\`"#
    case UInt8(ascii: "\\"): #"\\"#
    default: nil
    }
  }

  /// Encodes bytes that RFC 3986 does not call unreserved.
  private static func percentEncoded(_ byte: UInt8) -> String? {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      nil
    default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
  }
}

/// The quote that is open at a place of a line, by the rules of a format.
///
/// Every line begins without one: comments and other text may have single quotes, which would make
/// the rest of the file wrong. So a quoted text of several lines is not recognized.
struct TemplateQuotes {
  /// The quote; `nil` outside of quotes.
  private(set) var open: UInt8?

  private let form: TemplateForm
  private var isEscaped = false

  /// Whether an escaped quote has begun a text within a text, as in JSON within JSON.
  private var hasInnerText = false

  /// The parts that a shell reads a second time, such as command substitutions, from the outermost:
  /// the byte that ends each, and the quote that is open around it.
  private var expansions: [(end: UInt8, quote: UInt8?)] = []

  /// The last four bytes; 0 for an escaped one.
  private var recent = UInt32(TemplateQuotes.newline)

  init(_ form: TemplateForm) { self.form = form }

  /// Whether the place is read twice, so that the form's escapes do not keep a secret intact.
  var isNested: Bool { hasInnerText || !expansions.isEmpty }

  mutating func pass(_ byte: UInt8) {
    let previous = UInt8(truncatingIfNeeded: recent)
    let wasEscaped = isEscaped
    isEscaped = false
    recent = recent << 8 | UInt32(wasEscaped ? 0 : byte)
    switch byte {
    case Self.newline: self = TemplateQuotes(form)
    case _ where wasEscaped: if byte == Self.doubleQuote, form != .shell { hasInnerText.toggle() }
    case UInt8(ascii: "\\"): isEscaped = open == Self.doubleQuote || open == nil && form == .shell
    case Self.doubleQuote, Self.singleQuote:
      if open == byte {
        (open, hasInnerText) = (nil, false)
      } else if open == nil, begins(byte, after: previous) {
        open = byte
        // `$'` has its own escapes.
        if form == .shell, byte == Self.singleQuote, previous == UInt8(ascii: "$") { neverEnd() }
      }
    default: if form == .shell, open != Self.singleQuote { passExpansion(byte, after: previous) }
    }
  }

  /// Whether a quote begins a text here.
  private func begins(_ quote: UInt8, after previous: UInt8) -> Bool {
    switch form {
    case .json: quote == Self.doubleQuote
    // A quote within other text is an ordinary character. Two single quotes stand for one.
    case .yaml: " \t\n[{,:'".utf8.contains(previous)
    case .shell: true
    case .url: false
    }
  }

  private mutating func passExpansion(_ byte: UInt8, after previous: UInt8) {
    let isExpansion = previous == UInt8(ascii: "$")
    switch byte {
    case UInt8(ascii: "("):
      if isExpansion || open == nil && !expansions.isEmpty { begin(endingWith: ")") }
    case UInt8(ascii: "{") where isExpansion: expansions.append((UInt8(ascii: "}"), open))
    case UInt8(ascii: "`") where expansions.last?.end != byte: begin(endingWith: "`")
    case UInt8(ascii: "`"): end(byte)
    case UInt8(ascii: "}") where open == expansions.last?.quote: end(byte)
    case UInt8(ascii: ")") where open == nil: end(byte)
    // A `)` after a pattern does not end the substitution.
    case UInt8(ascii: "e") where recent == Self.case && !expansions.isEmpty: neverEnd()
    default: break
    }
  }

  private mutating func begin(endingWith end: Unicode.Scalar) {
    expansions.append((UInt8(ascii: end), open))
    open = nil
  }

  private mutating func end(_ byte: UInt8) {
    guard expansions.last?.end == byte else { return }
    open = expansions.removeLast().quote
  }

  /// Treats the rest of the line as nested.
  private mutating func neverEnd() { expansions.append((Self.newline, open)) }

  private static let newline = UInt8(ascii: "\n")
  private static let doubleQuote = UInt8(ascii: "\"")
  private static let singleQuote = UInt8(ascii: "'")
  private static let `case` = "case".utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
}
