internal import PrephirencesSystem

/// A value of an answer.
///
/// Texts and numbers stay bytes of the answer: most are decoded from base64 at once, and values of
/// rows leave no copies.
enum GatewayValue {
  case null
  case boolean(Bool)
  /// As it is written.
  case number(ArraySlice<UInt8>)
  /// As it is written, with its escapes.
  case text(ArraySlice<UInt8>)
  case array([GatewayValue])
  case object([(name: ArraySlice<UInt8>, value: GatewayValue)])

  /// The value of a field; `nil` if it is absent or null, or this is not an object.
  subscript(_ name: StaticString) -> GatewayValue? {
    guard case .object(let fields) = self else { return nil }
    let found = fields.last { field in
      name.withUTF8Buffer { unsafe field.name.elementsEqual($0) }
    }
    if case .null? = found?.value { return nil }
    return found?.value
  }

  /// A whole number; the gateway writes those of 64 bits as texts.
  func integer<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws -> Number {
    switch self {
    case .number(let bytes), .text(let bytes):
      guard let number = Number(String(decoding: bytes, as: UTF8.self)) else {
        throw EtcdError.malformed
      }
      return number
    default: throw EtcdError.malformed
    }
  }

  /// The bytes that a text stands for.
  func bytes() throws -> [UInt8] {
    guard case .text(let text) = self else { throw EtcdError.malformed }
    // JSON may escape the slash, and the characters that have a meaning in HTML.
    let plain = text.contains(UInt8(ascii: "\\")) ? (try? Self.unescaped(text))?[...] : text
    guard let plain, let bytes = [UInt8](base64: plain) else { throw EtcdError.malformed }
    return bytes
  }

  func string() throws -> String {
    guard case .text(let text) = self, let plain = try? Self.unescaped(text),
      let string = String(validating: plain, as: UTF8.self)
    else { throw EtcdError.malformed }
    return string
  }

  func array() throws -> [GatewayValue] {
    guard case .array(let elements) = self else { throw EtcdError.malformed }
    return elements
  }

  func isTrue() throws -> Bool {
    guard case .boolean(let value) = self else { throw EtcdError.malformed }
    return value
  }

  private static func unescaped(_ text: ArraySlice<UInt8>) throws -> [UInt8] {
    let quote = [UInt8(ascii: "\"")]
    var (scanner, plain): (JSONScanner, [UInt8]) = (JSONScanner(), [])
    try scanner.text(in: (quote + text + quote).span) { plain.append($0) }
    return plain
  }
}

extension GatewayValue {
  /// The depth that is read; etcd's answers have 6 at most.
  private static let greatestDepth = 32

  /// Reads one value; whether its texts are UTF-8 is checked when they are read.
  init(reading bytes: [UInt8]) throws {
    var scanner = JSONScanner(maximumDepth: Self.greatestDepth)
    do {
      self = try Self.value(&scanner, bytes)
      try scanner.end(in: bytes.span)
    } catch {
      throw EtcdError.malformed
    }
  }

  private static func value(_ scanner: inout JSONScanner, _ bytes: [UInt8]) throws -> GatewayValue {
    let kind = try scanner.kind(in: bytes.span)
    let start = scanner.position
    switch kind {
    case .object:
      var fields: [(name: ArraySlice<UInt8>, value: GatewayValue)] = []
      try scanner.object(in: bytes.span) { scanner in
        let name = try text(&scanner, bytes)
        try scanner.colon(in: bytes.span)
        fields.append((name, try value(&scanner, bytes)))
      }
      return .object(fields)
    case .array:
      var elements: [GatewayValue] = []
      try scanner.array(in: bytes.span) { elements.append(try value(&$0, bytes)) }
      return .array(elements)
    case .text: return .text(try text(&scanner, bytes))
    case .number:
      try scanner.number(in: bytes.span) { _ in }
      return .number(bytes[start..<scanner.position])
    case .word: return try scanner.word(in: bytes.span).map(GatewayValue.boolean) ?? .null
    }
  }

  private static func text(
    _ scanner: inout JSONScanner, _ bytes: [UInt8]
  ) throws -> ArraySlice<UInt8> {
    let start = scanner.position + 1
    try scanner.text(in: bytes.span) { _ in }
    return bytes[start..<scanner.position - 1]
  }
}

extension EtcdError {
  /// An answer that cannot be read.
  static let malformed = EtcdError(
    .protocolViolation,
    "the answer is not one of etcd's; check the address, and that nothing stands between")
}
