internal import KeychainCredentials
internal import KeychainSecrets

/// The format of a file around a marker, whose rules a secret keeps.
enum TemplateForm: String, CaseIterable, Sendable {
  case json, yaml, shell, url

  /// Returns what is wrong with a secret that no text of this form can hold; `nil` if it can.
  func objection(to secret: RawSpan) -> String? {
    switch self {
    case .json, .yaml: secret.text == nil ? "is not valid UTF-8, as \(rawValue) has to be" : nil
    case .shell:
      (0..<secret.byteCount).contains { secret.byte(at: $0) == 0 }
        ? "has a NUL, which a shell cannot hold" : nil
    case .url: nil
    }
  }

  /// Writes a secret.
  ///
  /// - Parameters:
  ///   - secret: Its bytes.
  ///   - quote: The quote that is open before it; `nil` if it needs quotes of its own.
  ///   - buffer: Gets the text.
  /// - Throws: `SecretsError` with `outOfMemory`.
  func write(
    _ secret: RawSpan, within quote: UInt8?, to buffer: inout SecretBuffer
  ) throws(SecretsError) {
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

  /// Appends bytes, each as it is or as the text that stands for it.
  private static func append(
    _ bytes: RawSpan, to buffer: inout SecretBuffer, _ text: (UInt8) -> String?
  ) throws(SecretsError) {
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

  /// What RFC 3986 does not call unreserved.
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

/// Which quote is open at a place of a line, by the rules of a format.
///
/// A line begins without one: a file may have comments and other text with single quotes, after which
/// nothing would be right until its end. So a text in quotes of several lines is not seen.
struct TemplateQuotes {
  /// The quote; `nil` outside of quotes.
  private(set) var open: UInt8?

  private let form: TemplateForm
  private var isEscaped = false
  private var previous = UInt8(ascii: "\n")

  init(_ form: TemplateForm) {
    self.form = form
  }

  mutating func pass(_ byte: UInt8) {
    defer { previous = byte }
    switch byte {
    case UInt8(ascii: "\n"): (open, isEscaped) = (nil, false)
    case _ where isEscaped: isEscaped = false
    case UInt8(ascii: "\\"):
      isEscaped = open == UInt8(ascii: "\"") || open == nil && form == .shell
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      if open == byte { open = nil } else if open == nil, begins(byte) { open = byte }
    default: break
    }
  }

  /// Whether a quote begins a text here.
  private func begins(_ quote: UInt8) -> Bool {
    switch form {
    case .json: quote == UInt8(ascii: "\"")
    // A quote within other text is a character like others. Two single ones stand for one.
    case .yaml: " \t\n[{,:'".utf8.contains(previous)
    case .shell: true
    case .url: false
    }
  }
}
