internal import KeychainCredentials

/// Finds the markers of a ``SecretTemplate``.
struct TemplateReader {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1

  /// The characters of the line before `counted`.
  private var characters = 0
  private var counted = 0

  /// The quotes of the line before `position`, for each form.
  private var quotes = TemplateForm.allCases.map { TemplateQuotes($0) }

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func parts() throws(KeychainError) -> [SecretTemplate.Part] {
    var parts: [SecretTemplate.Part] = []
    var start = 0
    while position < bytes.count {
      guard isPair(Self.opening, at: position) else {
        advance()
        continue
      }
      parts.append(.bytes(start..<position))
      parts.append(try marker())
      start = position
    }
    return parts + [.bytes(start..<bytes.count)]
  }

  /// Reads a marker, up to behind its end.
  private mutating func marker() throws(KeychainError) -> SecretTemplate.Part {
    let place = place()
    let inside = position + 2
    var end = inside
    while end < bytes.count, bytes[end] != UInt8(ascii: "\n"), !isPair(Self.closing, at: end) {
      // The two braces of the escape are no end, and no beginning.
      end += 1
    }
    guard isPair(Self.closing, at: end) else { throw place.located(.openMarker) }
    position = end + 2
    let range = trimmed(inside..<end)
    if bytes[range].elementsEqual(Self.escape.utf8) {
      let braces = range.lowerBound + 1
      return .bytes(braces..<(braces + 2))
    }
    // A `|` of a name is written `%7C`.
    let sign = bytes[range].firstIndex(of: UInt8(ascii: "|"))
    guard
      let text = String(
        validating: bytes[trimmed(range.lowerBound..<(sign ?? range.upperBound))], as: UTF8.self),
      CredentialReference.isReference(text)
    else { throw place.located(.unknownMarker) }
    do throws(KeychainError) {
      let reference = try CredentialReference(text)
      let form = try sign.map { sign throws(KeychainError) in
        try self.form(trimmed((sign + 1)..<range.upperBound), of: reference)
      }
      return .marker(
        TemplateMarker(
          reference: reference, form: form?.form, quote: form?.quote, place: place))
    } catch {
      throw place.located(error)
    }
  }

  /// Returns the form of a name, and the quote that is open here by its rules.
  private func form(
    _ name: Range<Int>, of reference: CredentialReference
  ) throws(KeychainError) -> (form: TemplateForm, quote: UInt8?) {
    let found = zip(TemplateForm.allCases, quotes).first { form, _ in
      form.rawValue.utf8.elementsEqual(bytes[name])
    }
    guard let (form, quotes) = found else { throw .unknownForm }
    guard form != .yaml || quotes.open != UInt8(ascii: "'") else {
      throw .singleQuotes(reference)
    }
    guard !quotes.isNested else {
      throw form == .shell ? .inExpansion(reference) : .innerText(reference, form)
    }
    return (form, quotes.open)
  }

  private mutating func advance() {
    for index in quotes.indices { quotes[index].pass(bytes[position]) }
    if bytes[position] == UInt8(ascii: "\n") {
      line += 1
      (characters, counted) = (0, position + 1)
    }
    position += 1
  }

  private mutating func place() -> TemplatePlace {
    // Bytes that continue a character of UTF-8 do not count.
    characters += bytes[counted..<position].count { $0 & 0xC0 != 0x80 }
    counted = position
    return TemplatePlace(line: line, column: characters + 1)
  }

  private func isPair(_ byte: UInt8, at index: Int) -> Bool {
    index + 1 < bytes.count && bytes[index] == byte && bytes[index + 1] == byte
  }

  private func trimmed(_ range: Range<Int>) -> Range<Int> {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let start = range.first { !isBlank(bytes[$0]) } ?? range.upperBound
    let end = range.last { !isBlank(bytes[$0]) }.map { $0 + 1 } ?? range.upperBound
    return start..<max(start, end)
  }

  private static let opening = UInt8(ascii: "{")
  private static let closing = UInt8(ascii: "}")

  /// What stands for two braces.
  private static let escape = #""{{""#
}

extension KeychainError {
  fileprivate static let openMarker = KeychainError(
    .undecodable, "there is no }} on the line after {{", recovery: .advice(writeBraces))

  fileprivate static let unknownMarker = KeychainError(
    .undecodable, "there is no reference between {{ and }}", recovery: .advice(writeBraces))

  fileprivate static let unknownForm = KeychainError(
    .undecodable, "the form after | is unknown",
    recovery: .advice(
      "write one of " + TemplateForm.allCases.map(\.rawValue).joined(separator: ", ")
        + ", and %7C for a | in a name"))

  fileprivate static func singleQuotes(_ reference: CredentialReference) -> Self {
    Self(
      .undecodable, "'\(reference)' is in single quotes of YAML, which cannot hold every secret",
      recovery: "write double quotes around it, or none")
  }

  fileprivate static func inExpansion(_ reference: CredentialReference) -> Self {
    Self(
      .undecodable,
      "'\(reference)' comes after $(, ${, $' or a backquote on its line, where a shell could run a "
        + "secret",
      recovery: "set a variable to it on a line before, and name the variable there")
  }

  fileprivate static func innerText(_ reference: CredentialReference, _ form: TemplateForm) -> Self
  {
    Self(
      .undecodable,
      "'\(reference)' comes after an escaped quote, and the form \(form.rawValue) escapes for one "
        + "level only",
      recovery: "store the whole inner text as a secret, and write its reference there")
  }

  private static let writeBraces = #"for two braces write {{ "{{" }}"#
}
