internal import Glibc

/// Writes an object of a request.
///
/// Fields that are nothing are left out, as the gateway does.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// Returns the bytes of an object.
  static func object<Failure: Error>(
    _ fields: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) -> [UInt8] {
    var writer = JSONWriter()
    // A password fits, and leaves no copy behind.
    writer.bytes.reserveCapacity(512)
    try writer.braces(fields)
    return writer.bytes
  }

  mutating func object<Failure: Error>(
    _ name: StaticString, _ fields: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    begin(name)
    try braces(fields)
  }

  private mutating func braces<Failure: Error>(
    _ fields: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
    try fields(&self)
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  mutating func array<Element>(
    _ name: StaticString, _ elements: [Element], _ write: (inout JSONWriter, Element) -> Void
  ) {
    guard !elements.isEmpty else { return }
    begin(name)
    bytes.append(UInt8(ascii: "["))
    needsComma = false
    for element in elements {
      if bytes.last == UInt8(ascii: "}") { append(",") }
      braces { write(&$0, element) }
    }
    bytes.append(UInt8(ascii: "]"))
    needsComma = true
  }

  mutating func base64(_ name: StaticString, _ value: [UInt8]) {
    begin(name)
    bytes.append(UInt8(ascii: "\""))
    Base64.append(value, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  mutating func integer(_ name: StaticString, _ value: Int64) {
    guard value != 0 else { return }
    begin(name)
    append("\"")
    bytes += String(value).utf8
    append("\"")
  }

  mutating func flag(_ name: StaticString, _ value: Bool) {
    guard value else { return }
    begin(name)
    append("true")
  }

  /// A name of the protocol, which needs no escapes.
  mutating func word(_ name: StaticString, _ value: StaticString) {
    begin(name)
    append("\"")
    append(value)
    append("\"")
  }

  /// Text in UTF-8.
  mutating func text(_ name: StaticString, _ value: some Collection<UInt8>) {
    begin(name)
    append("\"")
    for byte in value {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case ..<0x20:
        append(byte < 0x10 ? "\\u000" : "\\u001")
        bytes.append(Array("0123456789abcdef".utf8)[Int(byte & 15)])
      default: bytes.append(byte)
      }
    }
    append("\"")
  }

  private mutating func begin(_ name: StaticString) {
    if needsComma { append(",") }
    needsComma = true
    append("\"")
    append(name)
    append("\":")
  }

  private mutating func append(_ text: StaticString) {
    text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
  }
}

extension [UInt8] {
  /// Overwrites the bytes, if nobody else has them.
  mutating func wipe() {
    unsafe withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe explicit_bzero(start, bytes.count)
    }
  }
}

/// The text of bytes in JSON (RFC 4648, section 4).
enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The value of each character; 64 for what is none.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
    return values
  }()

  static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
    text.reserveCapacity(text.count + (bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let second = index + 1 < bytes.count ? bytes[index + 1] : nil
      let third = index + 2 < bytes.count ? bytes[index + 2] : nil
      let first = bytes[index]
      text.append(alphabet[Int(first >> 2)])
      text.append(alphabet[Int((first & 3) << 4 | (second ?? 0) >> 4)])
      text.append(
        second.map { alphabet[Int(($0 & 15) << 2 | (third ?? 0) >> 6)] } ?? UInt8(ascii: "="))
      text.append(third.map { alphabet[Int($0 & 63)] } ?? UInt8(ascii: "="))
      index += 3
    }
  }

  /// Returns the bytes of a text; `nil` if it isn't one.
  static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var group: UInt32 = 0
    var count = 0
    let values = values
    for character in text.dropLast(padding) {
      let value = values[Int(character)]
      guard value < 64 else { return nil }
      group = group << 6 | UInt32(value)
      count += 1
      if count == 4 {
        bytes.append(UInt8(truncatingIfNeeded: group >> 16))
        bytes.append(UInt8(truncatingIfNeeded: group >> 8))
        bytes.append(UInt8(truncatingIfNeeded: group))
        group = 0
        count = 0
      }
    }
    switch count {
    case 0 where padding == 0: break
    case 2 where padding == 2: bytes.append(UInt8(truncatingIfNeeded: group >> 4))
    case 3 where padding == 1:
      bytes.append(UInt8(truncatingIfNeeded: group >> 10))
      bytes.append(UInt8(truncatingIfNeeded: group >> 2))
    default: return nil
    }
    return bytes
  }
}
