internal import PrephirencesSystem

/// Reads one JSON value (RFC 8259), whose texts it doesn't check.
struct JSONReader {
  /// The depth that is read; etcd's answers have 6 at most.
  private static let greatestDepth = 32

  private let bytes: [UInt8]
  private var position = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  static func read(_ bytes: [UInt8]) throws -> JSONValue {
    var reader = Self(bytes)
    let value = try reader.value(depth: 0)
    guard reader.next() == nil else { throw EtcdError.malformed }
    return value
  }

  /// The next byte that is no space.
  private mutating func next() -> UInt8? {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      case let byte: return byte
      }
    }
    return nil
  }

  private mutating func value(depth: Int) throws -> JSONValue {
    guard depth < Self.greatestDepth, let first = next() else { throw EtcdError.malformed }
    switch first {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .text(try text())
    case UInt8(ascii: "t"): return try word("true", .boolean(true))
    case UInt8(ascii: "f"): return try word("false", .boolean(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func object(depth: Int) throws -> JSONValue {
    var fields: [(name: ArraySlice<UInt8>, value: JSONValue)] = []
    position += 1
    if next() == UInt8(ascii: "}") {
      position += 1
      return .object(fields)
    }
    while true {
      guard next() == UInt8(ascii: "\"") else { throw EtcdError.malformed }
      let name = try text()
      guard next() == UInt8(ascii: ":") else { throw EtcdError.malformed }
      position += 1
      fields.append((name, try value(depth: depth + 1)))
      if try ends(with: UInt8(ascii: "}")) { return .object(fields) }
    }
  }

  private mutating func array(depth: Int) throws -> JSONValue {
    var elements: [JSONValue] = []
    position += 1
    if next() == UInt8(ascii: "]") {
      position += 1
      return .array(elements)
    }
    while true {
      elements.append(try value(depth: depth + 1))
      if try ends(with: UInt8(ascii: "]")) { return .array(elements) }
    }
  }

  /// Reads what follows an element: a comma, or the end.
  private mutating func ends(with end: UInt8) throws -> Bool {
    let byte = next()
    guard byte == end || byte == UInt8(ascii: ",") else { throw EtcdError.malformed }
    position += 1
    return byte == end
  }

  private mutating func text() throws -> ArraySlice<UInt8> {
    position += 1
    let start = position
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        position += 1
        return bytes[start..<position - 1]
      case UInt8(ascii: "\\"): position += 2
      default: position += 1
      }
    }
    throw EtcdError.malformed
  }

  private mutating func number() throws -> JSONValue {
    let start = position
    while position < bytes.count, "+-.0123456789Ee".utf8.contains(bytes[position]) {
      position += 1
    }
    guard position > start else { throw EtcdError.malformed }
    return .number(bytes[start..<position])
  }

  private mutating func word(_ word: StaticString, _ value: JSONValue) throws -> JSONValue {
    let end = position + word.utf8CodeUnitCount
    guard end <= bytes.count,
      word.withUTF8Buffer({ unsafe bytes[position..<end].elementsEqual($0) })
    else { throw EtcdError.malformed }
    position = end
    return value
  }
}

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
  func integer<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws -> Number
  {
    switch self {
    case .number(let bytes), .text(let bytes):
      guard let number = Number(String(decoding: bytes, as: UTF8.self)) else { throw EtcdError.malformed }
      return number
    default: throw EtcdError.malformed
    }
  }

  /// The bytes that a text stands for.
  func bytes() throws -> [UInt8] {
    guard case .text(let text) = self else { throw EtcdError.malformed }
    // JSON may escape the slash, and the characters that have a meaning in HTML.
    let plain = text.contains(UInt8(ascii: "\\")) ? try Self.unescaped(text)[...] : text
    guard let bytes = [UInt8](base64: plain) else { throw EtcdError.malformed }
    return bytes
  }

  func string() throws -> String {
    guard case .text(let text) = self,
      let string = String(validating: try Self.unescaped(text), as: UTF8.self)
    else { throw EtcdError.malformed }
    return string
  }

  func array() throws -> [JSONValue] {
    guard case .array(let elements) = self else { throw EtcdError.malformed }
    return elements
  }

  func isTrue() throws -> Bool {
    guard case .boolean(let value) = self else { throw EtcdError.malformed }
    return value
  }

  private static func unescaped(_ text: ArraySlice<UInt8>) throws -> [UInt8] {
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
        else { throw EtcdError.malformed }
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
      case nil: throw EtcdError.malformed
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
