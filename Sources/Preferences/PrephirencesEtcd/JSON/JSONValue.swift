/// A value of an answer.
///
/// Texts and numbers stay bytes of the answer: most are decoded from base64 at once, and values of
/// rows leave no copies.
enum JSONValue {
  case null
  case boolean(Bool)
  /// As it is written.
  case number(ArraySlice<UInt8>)
  /// As it is written, with its escapes.
  case text(ArraySlice<UInt8>)
  case array([JSONValue])
  case object([(name: ArraySlice<UInt8>, value: JSONValue)])

  /// The value of a field; `nil` if it is absent or null, or this is not an object.
  subscript(_ name: StaticString) -> JSONValue? {
    guard case .object(let fields) = self else { return nil }
    let found = fields.last { field in
      name.withUTF8Buffer { unsafe field.name.elementsEqual($0) }
    }
    if case .null? = found?.value { return nil }
    return found?.value
  }

  /// A whole number; the gateway writes those of 64 bits as texts.
  func integer<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(EtcdError) -> Number
  {
    switch self {
    case .number(let bytes), .text(let bytes):
      guard let number = Number(String(decoding: bytes, as: UTF8.self)) else { throw .malformed }
      return number
    default: throw .malformed
    }
  }

  /// The bytes that a text stands for.
  func bytes() throws(EtcdError) -> [UInt8] {
    guard case .text(let text) = self else { throw .malformed }
    // JSON may escape the slash, and the characters that have a meaning in HTML.
    let plain = text.contains(UInt8(ascii: "\\")) ? try Self.unescaped(text)[...] : text
    guard let bytes = Base64.decode(plain) else { throw .malformed }
    return bytes
  }

  func string() throws(EtcdError) -> String {
    guard case .text(let text) = self,
      let string = String(validating: try Self.unescaped(text), as: UTF8.self)
    else { throw .malformed }
    return string
  }

  func array() throws(EtcdError) -> [JSONValue] {
    guard case .array(let elements) = self else { throw .malformed }
    return elements
  }

  func isTrue() throws(EtcdError) -> Bool {
    guard case .boolean(let value) = self else { throw .malformed }
    return value
  }

  private static func unescaped(_ text: ArraySlice<UInt8>) throws(EtcdError) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text
    var units: [UInt16] = []
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      switch rest.popFirst() {
      case UInt8(ascii: "u"):
        let digits = String(decoding: rest.prefix(4), as: UTF8.self)
        guard digits.utf8.count == 4, digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }),
          let unit = UInt16(digits, radix: 16)
        else { throw .malformed }
        rest.removeFirst(4)
        units.append(unit)
        // The first half of a pair waits for the second.
        if UTF16.isLeadSurrogate(unit), rest.starts(with: "\\u".utf8) { continue }
        bytes += String(decoding: units, as: UTF16.self).utf8
        units = []
      case UInt8(ascii: "b"): bytes.append(0x08)
      case UInt8(ascii: "f"): bytes.append(0x0C)
      case UInt8(ascii: "n"): bytes.append(0x0A)
      case UInt8(ascii: "r"): bytes.append(0x0D)
      case UInt8(ascii: "t"): bytes.append(0x09)
      case let other?: bytes.append(other)
      case nil: throw .malformed
      }
    }
    return bytes
  }
}

extension EtcdError {
  /// An answer that cannot be read.
  static let malformed = EtcdError(
    .protocolViolation,
    "the answer is not one of etcd's; check the address, and that nothing stands between")
}
