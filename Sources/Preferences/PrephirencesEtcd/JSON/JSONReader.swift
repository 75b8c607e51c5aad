/// Reads one JSON value (RFC 8259), whose texts it doesn't check.
struct JSONReader {
  /// The depth that is read; etcd's answers have 6 at most.
  private static let greatestDepth = 32

  private let bytes: [UInt8]
  private var position = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  static func read(_ bytes: [UInt8]) throws(EtcdError) -> JSONValue {
    var reader = Self(bytes)
    let value = try reader.value(depth: 0)
    guard reader.next() == nil else { throw .malformed }
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

  private mutating func value(depth: Int) throws(EtcdError) -> JSONValue {
    guard depth < Self.greatestDepth, let first = next() else { throw .malformed }
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

  private mutating func object(depth: Int) throws(EtcdError) -> JSONValue {
    var fields: [(name: ArraySlice<UInt8>, value: JSONValue)] = []
    position += 1
    if next() == UInt8(ascii: "}") {
      position += 1
      return .object(fields)
    }
    while true {
      guard next() == UInt8(ascii: "\"") else { throw .malformed }
      let name = try text()
      guard next() == UInt8(ascii: ":") else { throw .malformed }
      position += 1
      fields.append((name, try value(depth: depth + 1)))
      if try ends(with: UInt8(ascii: "}")) { return .object(fields) }
    }
  }

  private mutating func array(depth: Int) throws(EtcdError) -> JSONValue {
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
  private mutating func ends(with end: UInt8) throws(EtcdError) -> Bool {
    let byte = next()
    guard byte == end || byte == UInt8(ascii: ",") else { throw .malformed }
    position += 1
    return byte == end
  }

  private mutating func text() throws(EtcdError) -> ArraySlice<UInt8> {
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
    throw .malformed
  }

  private mutating func number() throws(EtcdError) -> JSONValue {
    let start = position
    while position < bytes.count, "+-.0123456789Ee".utf8.contains(bytes[position]) {
      position += 1
    }
    guard position > start else { throw .malformed }
    return .number(bytes[start..<position])
  }

  private mutating func word(
    _ word: StaticString, _ value: JSONValue
  ) throws(EtcdError) -> JSONValue {
    let end = position + word.utf8CodeUnitCount
    guard end <= bytes.count,
      word.withUTF8Buffer({ unsafe bytes[position..<end].elementsEqual($0) })
    else { throw .malformed }
    position = end
    return value
  }
}
