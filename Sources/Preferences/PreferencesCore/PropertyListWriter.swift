package import FoundationEssentials
internal import Glibc
internal import PrephirencesSystem

/// A value of a property list or archive to write.
///
/// Dictionaries are ordered here, because files are.
indirect enum PropertyListNode {
  case string(String)
  case bool(Bool)
  case integer(Int)
  case unsigned(UInt64)
  case real(Double)
  case date(Date)
  case data(Data)
  case array([PropertyListNode])
  case dictionary([(key: String, value: PropertyListNode)])
  /// A reference to an object of an archive, which XML does not have.
  case reference(Int)

  /// Takes the form that ``PropertyListForm`` gives a value, or returns `nil` for another object.
  ///
  /// Keys are in the order of their UTF-16, as in Foundation's XML.
  init?(_ form: PreferenceValue, depth: Int = 0) {
    guard depth < PropertyListReader.maximumDepth else { return nil }
    switch form {
    case .string(let text): self = .string(text)
    case .bool(let truth): self = .bool(truth)
    case .integer(let number): self = .integer(Int(number))
    case .unsignedInteger(let number):
      self = Int(exactly: number).map { .integer($0) } ?? .unsigned(number)
    case .double(let number): self = .real(number)
    case .date(let date): self = .date(date)
    case .data(let data): self = .data(data)
    case .array(let array):
      let nodes = array.compactMap { Self($0, depth: depth + 1) }
      guard nodes.count == array.count else { return nil }
      self = .array(nodes)
    case .dictionary(let dictionary):
      var pairs: [(key: String, value: PropertyListNode)] = []
      for (key, value) in dictionary {
        guard let node = Self(value, depth: depth + 1) else { return nil }
        pairs.append((key, node))
      }
      self = .dictionary(pairs.sorted { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) })
    case .float, .url, .uuid, .decimal: return nil
    }
  }
}

/// Writes property lists: XML with Foundation's bytes on Linux, and binary lists.
package enum PropertyListWriter {
  /// Returns the bytes of a property list.
  package static func data(
    of root: PreferenceValue, format: PropertyListReader.Format
  ) throws(PreferencesError) -> Data {
    if let node = PropertyListNode(root) {
      if format == .binary { return data(of: node) }
      if let text = XMLPropertyListWriter.text(of: node) { return Data(text) }
    }
    throw PreferencesError(.unstorable, "the values cannot be written as a property list")
  }

  /// Returns the bytes of a binary property list or an archive.
  static func data(of node: PropertyListNode) -> Data {
    var writer = BinaryPropertyListWriter()
    writer.add(node)
    return writer.finish()
  }
}

// MARK: XML

/// Writes a property list as XML.
private struct XMLPropertyListWriter {
  private var bytes: [UInt8] = []

  /// Returns the text, or `nil` if it would hold a reference, or a date that XML does not have.
  static func text(of node: PropertyListNode) -> [UInt8]? {
    var writer = Self()
    writer.append(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
      "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">

      """)
    guard writer.append(node, indent: 0) else { return nil }
    writer.append("</plist>\n")
    return writer.bytes
  }

  private mutating func append(_ node: PropertyListNode, indent: Int) -> Bool {
    switch node {
    case .string(let text): element("string", text, indent)
    case .bool(let truth): line(truth ? "<true/>" : "<false/>", indent)
    case .integer(let number): element("integer", number.description, indent)
    case .unsigned(let number): element("integer", number.description, indent)
    case .real(let number): element("real", Self.text(of: number), indent)
    case .date(let date):
      guard let text = Self.text(of: date) else { return false }
      element("date", text, indent)
    case .data(let data):
      line("<data>", indent)
      append(data, indent: indent)
      line("</data>", indent)
    case .array(let elements) where elements.isEmpty: line("<array/>", indent)
    case .array(let elements):
      line("<array>", indent)
      for element in elements where !append(element, indent: indent + 1) { return false }
      line("</array>", indent)
    case .dictionary(let pairs) where pairs.isEmpty: line("<dict/>", indent)
    case .dictionary(let pairs):
      line("<dict>", indent)
      for (key, value) in pairs {
        element("key", key, indent + 1)
        guard append(value, indent: indent + 1) else { return false }
      }
      line("</dict>", indent)
    case .reference: return false
    }
    return true
  }

  private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  private mutating func startLine(_ indent: Int) {
    bytes.append(contentsOf: repeatElement(UInt8(ascii: "\t"), count: indent))
  }

  private mutating func line(_ text: String, _ indent: Int) {
    startLine(indent)
    append(text + "\n")
  }

  private mutating func element(_ name: String, _ text: String, _ indent: Int) {
    startLine(indent)
    append("<\(name)>")
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "<"): append("&lt;")
      case UInt8(ascii: ">"): append("&gt;")
      case UInt8(ascii: "&"): append("&amp;")
      // Readers convert it to a line feed. Foundation writes it unchanged.
      case UInt8(ascii: "\r"): append("&#13;")
      default: bytes.append(byte)
      }
    }
    append("</\(name)>\n")
  }

  /// Appends the lines of data, which are shorter if they are indented further.
  private mutating func append(_ data: Data, indent: Int) {
    let indent = min(indent, 8)
    var rest = Array(data.base64EncodedString().utf8)[...]
    while !rest.isEmpty {
      startLine(indent)
      bytes += rest.prefix(76 - 8 * indent) + [UInt8(ascii: "\n")]
      rest = rest.dropFirst(76 - 8 * indent)
    }
  }

  private static func text(of number: Double) -> String {
    if number.isNaN { return "nan" }
    if number.isInfinite { return number < 0 ? "-infinity" : "+infinity" }
    // Foundation writes no sign here.
    if number == 0 { return number.sign == .minus ? "-0.0" : "0.0" }
    var buffer = [CChar](repeating: 0, count: 40)
    let length = withVaList([number]) { unsafe vsnprintf(&buffer, buffer.count, "%.17g", $0) }
    let text = String(
      decoding: buffer.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // The program may have chosen a language with another decimal separator.
    return Double(text) == number ? text : number.description
  }

  /// Returns a date, without the fraction of its second.
  private static func text(of date: Date) -> String? {
    let seconds = date.timeIntervalSinceReferenceDate
    guard GregorianDay.contains(date) else { return nil }
    let (year, month, day) = GregorianDay.date(Int((seconds / 86_400).rounded(.down)))
    // Just before a minute, the remainder is rounded to 60 seconds.
    let remainder = seconds - (seconds / 60).rounded(.down) * 60
    let minutes = Int((seconds / 60).rounded(.down)) % 1440
    let minute = minutes < 0 ? minutes + 1440 : minutes
    func padded(_ number: Int, _ width: Int = 2) -> String {
      String(repeating: "0", count: max(0, width - number.description.count)) + number.description
    }
    return "\(padded(year, 4))-\(padded(month))-\(padded(day))"
      + "T\(padded(minute / 60)):\(padded(minute % 60)):\(padded(Int(remainder)))Z"
  }
}

extension GregorianDay {
  /// Whether property lists can hold a date: it must be a number, and not beyond Foundation's
  /// distant dates.
  static func contains(_ date: Date) -> Bool {
    let seconds = date.timeIntervalSinceReferenceDate
    return Date.distantPast.timeIntervalSinceReferenceDate <= seconds
      && seconds <= Date.distantFuture.timeIntervalSinceReferenceDate
  }
}

// MARK: Binary

/// Writes a binary property list.
///
/// Equal numbers, truth values and references become one object; texts do not, as with Foundation.
private struct BinaryPropertyListWriter {
  private enum Object {
    case bytes([UInt8])
    case list(marker: UInt8, count: Int, parts: [Int])
  }

  private var objects: [Object] = []
  private var shared: [[UInt8]: Int] = [:]

  /// Adds an object before its parts, and returns its index.
  @discardableResult
  mutating func add(_ node: PropertyListNode) -> Int {
    switch node {
    case .string(let text): return append(Self.bytes(of: text))
    case .data(let data): return append(Self.header(0x40, count: data.count) + data)
    case .date(let date):
      return append([0x33] + Self.bigEndian(date.timeIntervalSinceReferenceDate.bitPattern, 8))
    case .bool(let truth): return share([truth ? 9 : 8])
    case .integer(let number): return share(Self.bytes(of: number))
    case .unsigned(let number):
      return share([0x14] + [UInt8](repeating: 0, count: 8) + Self.bigEndian(number, 8))
    case .real(let number):
      return share([0x23] + Self.bigEndian((number.isNaN ? .nan : number).bitPattern, 8))
    case .reference(let number):
      let width = Self.width(of: number)
      return share([0x80 | UInt8(width - 1)] + Self.bigEndian(UInt64(number), width))
    case .array(let elements):
      return append(elements, marker: 0xA0, count: elements.count)
    case .dictionary(let pairs):
      let keys = pairs.map { PropertyListNode.string($0.key) }
      return append(keys + pairs.map(\.value), marker: 0xD0, count: pairs.count)
    }
  }

  func finish() -> Data {
    var bytes = BinaryPropertyList.magic
    var offsets: [Int] = []
    let referenceWidth = Self.width(of: objects.count)
    for object in objects {
      offsets.append(bytes.count)
      switch object {
      case .bytes(let content): bytes += content
      case .list(let marker, let count, let parts):
        bytes += Self.header(marker, count: count)
        for part in parts { bytes += Self.bigEndian(UInt64(part), referenceWidth) }
      }
    }
    let table = bytes.count
    let offsetWidth = Self.width(of: table)
    for offset in offsets { bytes += Self.bigEndian(UInt64(offset), offsetWidth) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetWidth), UInt8(referenceWidth)]
    for number in [objects.count, 0, table] { bytes += Self.bigEndian(UInt64(number), 8) }
    return Data(bytes)
  }

  private mutating func append(_ bytes: [UInt8]) -> Int {
    objects.append(.bytes(bytes))
    return objects.count - 1
  }

  private mutating func share(_ bytes: [UInt8]) -> Int {
    if let index = shared[bytes] { return index }
    shared[bytes] = objects.count
    return append(bytes)
  }

  private mutating func append(_ parts: [PropertyListNode], marker: UInt8, count: Int) -> Int {
    let index = append([])
    objects[index] = .list(marker: marker, count: count, parts: parts.map { add($0) })
    return index
  }

  private static func bytes(of text: String) -> [UInt8] {
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      return header(0x50, count: text.utf8.count) + Array(text.utf8)
    }
    return header(0x60, count: text.utf16.count) + text.utf16.flatMap { bigEndian(UInt64($0), 2) }
  }

  private static func bytes(of number: Int) -> [UInt8] {
    let width = number < 0 ? 8 : width(of: number)
    let marker: UInt8 = 0x10 | UInt8(width.trailingZeroBitCount)
    return [marker] + bigEndian(UInt64(bitPattern: Int64(number)), width)
  }

  private static func header(_ marker: UInt8, count: Int) -> [UInt8] {
    count < 15 ? [marker | UInt8(count)] : [marker | 15] + bytes(of: count)
  }

  /// Returns the number of bytes for a nonnegative number: 1, 2, 4 or 8.
  private static func width(of number: Int) -> Int {
    number <= 0xFF ? 1 : number <= 0xFFFF ? 2 : number <= 0xFFFF_FFFF ? 4 : 8
  }

  private static func bigEndian(_ number: UInt64, _ width: Int) -> [UInt8] {
    (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
  }
}
