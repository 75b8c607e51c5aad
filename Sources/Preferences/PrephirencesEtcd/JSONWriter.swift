internal import Glibc
internal import PrephirencesSystem

/// Writes an object of a request.
///
/// Fields that are nothing are left out, as the gateway does.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// Returns the bytes of an object.
  ///
  /// A secret that fits into the capacity leaves no copy behind.
  static func object(capacity: Int = 512, _ fields: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    writer.bytes.reserveCapacity(capacity)
    writer.braces(fields)
    return writer.bytes
  }

  mutating func object(_ name: StaticString, _ fields: (inout JSONWriter) -> Void) {
    begin(name)
    braces(fields)
  }

  private mutating func braces(_ fields: (inout JSONWriter) -> Void) {
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
    fields(&self)
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
    append("\"")
    bytes += value.base64.utf8
    append("\"")
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

  // Neither is inlined: in the loops of a transaction, they kept the compiler busy for seconds.

  @inline(never)
  private mutating func begin(_ name: StaticString) {
    if needsComma { append(",") }
    needsComma = true
    append("\"")
    append(name)
    append("\":")
  }

  @inline(never)
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
