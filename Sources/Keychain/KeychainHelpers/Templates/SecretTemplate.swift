public import KeychainCredentials
public import KeychainSecrets

/// A text with references in the places of secrets, such as `password = {{ keychain://db/admin }}`.
///
/// A marker is `{{`, a reference and `}}` on one line, with optional white space around the
/// reference. Two braces that begin anything else are an error, because a misspelt reference would
/// stay in the text unnoticed. `{{ "{{" }}` stands for two braces. All other bytes stay, whether or
/// not they are text.
///
/// Markers are replaced once: a secret that contains `{{` is not read again. Secrets are inserted
/// unchanged, unless a form follows the reference after `|`: `json`, `yaml`, `shell` or `url`. Then
/// the secret gets the escapes of that format. Within quotes that begin on the same line, the
/// quotes stay intact; elsewhere it gets quotes of its own, except in a URL, which has none.
public struct SecretTemplate: Sendable {
  enum Part: Sendable {
    case bytes(Range<Int>)
    case marker(TemplateMarker)
  }

  private let contents: [UInt8]
  private let parts: [Part]

  /// Reads a template.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError`` with `undecodable` if two braces do not begin
  ///   a marker, if its form is unknown, or if the form cannot keep a secret intact in this place,
  ///   such as in single quotes of YAML; `invalidArgument` if a reference is wrong; with the line
  ///   and column.
  public init(_ contents: [UInt8]) throws(KeychainError) {
    self.contents = contents
    var reader = TemplateReader(contents)
    parts = try reader.parts()
  }

  /// The references, in their order.
  public var references: [CredentialReference] {
    parts.compactMap { part in
      if case .marker(let marker) = part { marker.reference } else { nil }
    }
  }

  /// Returns the text, in guarded memory, with the secrets that the references name.
  ///
  /// - Parameter allowance: The names that the references may have; checked before anything is
  ///   read.
  /// - Throws: ``/KeychainSecrets/KeychainError`` with `refused` if a reference is not allowed,
  ///   `tooLarge` if the text gets longer than 64 MiB, `undecodable` if a form cannot contain a
  ///   secret, or as `ReferenceResolver.resolve(_:)`; with the line and column.
  public func fill(
    with resolver: ReferenceResolver, allowing allowance: ReferenceAllowance
  ) throws(KeychainError) -> SecretBytes {
    for case .marker(let marker) in parts {
      try marker.located { reference throws(KeychainError) in try allowance.check(reference) }
    }
    var filled = try SecretBuffer()
    for part in parts {
      switch part {
      case .bytes(let range):
        try filled.append(contents.span.bytes.extracting(range))
      case .marker(let marker):
        try marker.located { reference throws(KeychainError) in
          try marker.write(resolver.resolve(reference), to: &filled)
          guard filled.count <= Self.limit else { throw .filledTooLong(Self.limit) }
        }
      }
    }
    return try filled.finish()
  }

  /// A template may name a long secret many times.
  private static let limit = 64 << 20
}

extension KeychainError {
  fileprivate static func filledTooLong(_ limit: Int) -> Self {
    Self(.tooLarge, "the filled template would be longer than \(limit) bytes")
  }
}

/// Finds the markers of a ``SecretTemplate``.
struct TemplateReader {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1

  /// The number of characters of the line before `counted`.
  private var characters = 0
  private var counted = 0

  /// For each form, the quotes of the line before `position`.
  private var quotes = TemplateForm.allCases.map { TemplateQuotes($0) }

  init(_ bytes: [UInt8]) { self.bytes = bytes }

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

  /// Reads a marker including its end.
  private mutating func marker() throws(KeychainError) -> SecretTemplate.Part {
    let place = place()
    let inside = position + 2
    var end = inside
    while end < bytes.count, bytes[end] != UInt8(ascii: "\n"), !isPair(Self.closing, at: end) {
      // The two braces of the escape do not begin or end a marker.
      end += 1
    }
    guard isPair(Self.closing, at: end) else { throw place.located(.openMarker) }
    position = end + 2
    let range = trimmed(inside..<end)
    if bytes[range].elementsEqual(Self.escape.utf8) {
      let braces = range.lowerBound + 1
      return .bytes(braces..<(braces + 2))
    }
    // A `|` in a name is written `%7C`.
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
        TemplateMarker(reference: reference, form: form?.form, quote: form?.quote, place: place))
    } catch { throw place.located(error) }
  }

  /// Returns the form with a name, and the quote that is open here by its rules.
  private func form(
    _ name: Range<Int>, of reference: CredentialReference
  ) throws(KeychainError) -> (form: TemplateForm, quote: UInt8?) {
    let found = zip(TemplateForm.allCases, quotes).first { form, _ in
      form.rawValue.utf8.elementsEqual(bytes[name])
    }
    guard let (form, quotes) = found else { throw .unknownForm }
    guard form != .yaml || quotes.open != UInt8(ascii: "'") else { throw .singleQuotes(reference) }
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

  /// The text that stands for two braces.
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

/// A marker of a template.
struct TemplateMarker: Sendable {
  let reference: CredentialReference

  /// The format around it; `nil` to insert the secret unchanged.
  let form: TemplateForm?

  let quote: UInt8?

  let place: TemplatePlace

  /// Writes the secret that its reference names.
  func write(_ secret: borrowing SecretBytes, to buffer: inout SecretBuffer) throws(KeychainError) {
    let objection = secret.withBytes { bytes in form?.objection(to: bytes) }
    if let objection { throw .unwritable(reference, objection) }
    try secret.withBytes { bytes throws(KeychainError) in
      guard let form else { return try buffer.append(bytes) }
      try form.write(bytes, within: quote, to: &buffer)
    }
  }

  /// Calls a closure with the reference; an error gives the place of the marker.
  func located<Result: ~Copyable>(
    _ body: (CredentialReference) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    do throws(KeychainError) {
      return try body(reference)
    } catch { throw place.located(error) }
  }
}

extension KeychainError {
  fileprivate static func unwritable(_ reference: CredentialReference, _ objection: String) -> Self
  {
    Self(
      .undecodable, "what '\(reference)' names \(objection)",
      recovery: "add encoding=base64 to the reference, and decode it where it is used")
  }
}

/// The beginning of a marker in a template.
struct TemplatePlace: Sendable {
  /// The number of the line, from 1.
  let line: Int

  /// The number of the character in its line, from 1.
  let column: Int

  func located(_ failure: KeychainError) -> KeychainError {
    KeychainError(
      failure.code, "line \(line), column \(column): \(failure.message)",
      recovery: failure.recovery, underlying: failure.underlying)
  }
}
