internal import Foundation
internal import Prephirences

/// Writes the form of a value for encryption, from which the same type can be read.
///
/// A value is a byte for its type, followed by its content. Integers are little-endian; bytes and
/// text are preceded by their length in 8 bytes.
struct PlainWriter {
  private static let greatestDepth = 200

  private(set) var data: Data

  /// Returns the form of a value or of a file's dictionary.
  ///
  /// - Throws: ``CryptoPrephirencesError`` with ``CryptoPrephirencesError/Code/unstorable`` if the
  ///   value has no form.
  static func data(
    of value: Any, _ form: PlainForm = .value
  ) throws(CryptoPrephirencesError) -> Data {
    var writer = PlainWriter(data: form.magic)
    try writer.write(value)
    return writer.data
  }

  mutating func append(_ integer: some FixedWidthInteger) { data.append(littleEndian: integer) }

  mutating func append(_ bytes: Data) {
    append(UInt64(bytes.count))
    data.append(bytes)
  }

  mutating func append(_ text: String) { append(Data(text.utf8)) }

  private mutating func write(_ value: Any, depth: Int = 0) throws(CryptoPrephirencesError) {
    guard depth < Self.greatestDepth else { throw .unstorable(type(of: value)) }
    switch value {
    case let scalar as any PlainScalar:
      data.append(type(of: scalar).plainTag.rawValue)
      scalar.write(to: &self)
    // Objects come later: as a value, a number object could be of any type.
    case is NSNumber where type(of: value) is AnyClass: try writeArchive(value)
    case let text as String: try write(text, depth: depth)
    case let data as Data: try write(data, depth: depth)
    case let array as [Any]: try write(array: array, depth: depth)
    case let dictionary as [String: Any]: try write(dictionary: dictionary, depth: depth)
    case let codable as any Codable: try write(codable: codable)
    default: try writeArchive(value)
    }
  }

  private mutating func write(array: [Any], depth: Int) throws(CryptoPrephirencesError) {
    data.append(PlainTag.array.rawValue)
    append(UInt64(array.count))
    for element in array {
      guard let element = unwrapped(element) else { throw .unstorable(type(of: element)) }
      try write(element, depth: depth + 1)
    }
  }

  private mutating func write(
    dictionary: [String: Any], depth: Int
  ) throws(CryptoPrephirencesError) {
    let dictionary = dictionary.compactMapValues { unwrapped($0) }
    data.append(PlainTag.dictionary.rawValue)
    append(UInt64(dictionary.count))
    for (key, value) in dictionary {
      append(key)
      try write(value, depth: depth + 1)
    }
  }

  private mutating func write(codable: any Codable) throws(CryptoPrephirencesError) {
    let type = type(of: codable)
    guard let json = try? PlainCodable.encoder().encode(codable) else { throw .unstorable(type) }
    data.append(PlainTag.codable.rawValue)
    append(TypeName.of(type) ?? "")
    append(json)
  }

  private mutating func writeArchive(_ value: Any) throws(CryptoPrephirencesError) {
    guard let archive = PreferenceArchive.archive(value) else { throw .unstorable(type(of: value)) }
    data.append(PlainTag.archive.rawValue)
    append(archive)
  }
}

/// The kind of encrypted content; one kind is never read as the other.
enum PlainForm {
  case value, file

  /// The bytes at the start of the form.
  var magic: Data {
    switch self {
    case .value: Data("PKV1".utf8)
    case .file: Data("PKF1".utf8)
    }
  }
}

/// The type of a value.
enum PlainTag: UInt8, CaseIterable {
  case bool = 1
  case int, int8, int16, int32, int64, int128, uint, uint8, uint16, uint32, uint64, uint128
  case float, double, cgFloat, decimal
  case string, data, date, url, uuid
  case array, dictionary, codable, archive
}

extension Data {
  mutating func append(littleEndian integer: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: integer.littleEndian) { append(contentsOf: $0) }
  }
}

/// Reads the output of ``PlainWriter``.
///
/// Its input is authenticated, decrypted data; nevertheless it handles any bytes safely.
struct PlainReader {
  struct Malformed: Error {}

  private static let greatestDepth = 200

  private(set) var rest: Data

  init(_ data: Data) { rest = data }

  /// Reads a value from its form.
  ///
  /// - Parameters:
  ///   - data: The form, or an archive of `NSKeyedArchiver`, which other programs encrypt.
  ///   - type: The type to decode if the type of the value is private.
  /// - Returns: The value, with the type that was written.
  /// - Throws: ``CryptoPrephirencesError`` with ``CryptoPrephirencesError/Code/undecodable``.
  static func value(
    of data: Data, _ form: PlainForm = .value, as type: Any.Type? = nil
  ) throws(CryptoPrephirencesError) -> Any {
    guard data.starts(with: form.magic) else {
      guard form == .value, let object = PreferenceArchive.unarchive(data) else {
        throw .undecodable
      }
      return object
    }
    var reader = PlainReader(data.dropFirst(form.magic.count))
    do {
      let value = try reader.value(as: type)
      guard reader.rest.isEmpty else { throw Malformed() }
      return value
    } catch {
      throw .undecodable
    }
  }

  mutating func byte() throws(Malformed) -> UInt8 {
    guard let byte = rest.popFirst() else { throw Malformed() }
    return byte
  }

  mutating func bytes(_ count: Int) throws(Malformed) -> Data {
    guard count >= 0, count <= rest.count else { throw Malformed() }
    defer { rest = rest.dropFirst(count) }
    return Data(rest.prefix(count))
  }

  mutating func integer<Integer: FixedWidthInteger>() throws(Malformed) -> Integer {
    try bytes(MemoryLayout<Integer>.size).reversed().reduce(0) {
      $0 << 8 | Integer(truncatingIfNeeded: $1)
    }
  }

  mutating func data() throws(Malformed) -> Data { try bytes(try count()) }

  mutating func text() throws(Malformed) -> String {
    guard let text = String(validating: try data(), as: UTF8.self) else { throw Malformed() }
    return text
  }

  /// Reads a count of bytes, or of values that take at least one byte each.
  private mutating func count() throws(Malformed) -> Int {
    let count: UInt64 = try integer()
    guard count <= rest.count else { throw Malformed() }
    return Int(count)
  }

  private mutating func value(as type: Any.Type? = nil, depth: Int = 0) throws -> Any {
    guard depth < Self.greatestDepth, let tag = PlainTag(rawValue: try byte()) else {
      throw Malformed()
    }
    switch tag {
    case .array:
      // Nothing is reserved for the count, which nested arrays can claim again and again.
      var array: [Any] = []
      for _ in 0..<(try count()) { array.append(try value(depth: depth + 1)) }
      return array
    case .dictionary:
      return try (0..<count()).reduce(into: [String: Any]()) { dictionary, _ in
        dictionary[try text()] = try value(depth: depth + 1)
      }
    case .codable:
      let name = try text()
      guard let type = TypeName.decodableType(named: name) ?? type as? any Decodable.Type else {
        throw Malformed()
      }
      return try PlainCodable.decoder().decode(type, from: try data())
    case .archive:
      guard let object = PreferenceArchive.unarchive(try data()) else { throw Malformed() }
      return object
    default:
      guard let scalar = PlainScalars.byTag[tag] else { throw Malformed() }
      return try scalar.init(from: &self)
    }
  }
}

/// A value whose content is written unchanged.
protocol PlainScalar: Sendable {
  static var plainTag: PlainTag { get }

  func write(to writer: inout PlainWriter)

  init(from reader: inout PlainReader) throws(PlainReader.Malformed)
}

enum PlainScalars {
  private static let all: [any PlainScalar.Type] = [
    Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self, UInt.self,
    UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self, Float.self, Double.self,
    CGFloat.self, Decimal.self, String.self, Data.self, Date.self, URL.self, UUID.self,
  ]

  static let byTag = Dictionary(uniqueKeysWithValues: all.map { ($0.plainTag, $0) })
}

extension PlainScalar where Self: FixedWidthInteger {
  func write(to writer: inout PlainWriter) { writer.append(self) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self = try reader.integer()
  }
}

extension Int: PlainScalar { static let plainTag = PlainTag.int }
extension Int8: PlainScalar { static let plainTag = PlainTag.int8 }
extension Int16: PlainScalar { static let plainTag = PlainTag.int16 }
extension Int32: PlainScalar { static let plainTag = PlainTag.int32 }
extension Int64: PlainScalar { static let plainTag = PlainTag.int64 }
extension Int128: PlainScalar { static let plainTag = PlainTag.int128 }
extension UInt: PlainScalar { static let plainTag = PlainTag.uint }
extension UInt8: PlainScalar { static let plainTag = PlainTag.uint8 }
extension UInt16: PlainScalar { static let plainTag = PlainTag.uint16 }
extension UInt32: PlainScalar { static let plainTag = PlainTag.uint32 }
extension UInt64: PlainScalar { static let plainTag = PlainTag.uint64 }
extension UInt128: PlainScalar { static let plainTag = PlainTag.uint128 }

extension Bool: PlainScalar {
  static let plainTag = PlainTag.bool

  func write(to writer: inout PlainWriter) { writer.append(UInt8(self ? 1 : 0)) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self = try reader.byte() != 0
  }
}

extension Float: PlainScalar {
  static let plainTag = PlainTag.float

  func write(to writer: inout PlainWriter) { writer.append(bitPattern) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self.init(bitPattern: try reader.integer())
  }
}

extension Double: PlainScalar {
  static let plainTag = PlainTag.double

  func write(to writer: inout PlainWriter) { writer.append(bitPattern) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self.init(bitPattern: try reader.integer())
  }
}

extension CGFloat: PlainScalar {
  static let plainTag = PlainTag.cgFloat

  func write(to writer: inout PlainWriter) { Double(native).write(to: &writer) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self.init(try Double(from: &reader))
  }
}

extension String: PlainScalar {
  static let plainTag = PlainTag.string

  func write(to writer: inout PlainWriter) { writer.append(self) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self = try reader.text()
  }
}

extension Data: PlainScalar {
  static let plainTag = PlainTag.data

  func write(to writer: inout PlainWriter) { writer.append(self) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self = try reader.data()
  }
}

extension Date: PlainScalar {
  static let plainTag = PlainTag.date

  func write(to writer: inout PlainWriter) { timeIntervalSinceReferenceDate.write(to: &writer) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    self.init(timeIntervalSinceReferenceDate: try Double(from: &reader))
  }
}

extension UUID: PlainScalar {
  static let plainTag = PlainTag.uuid

  func write(to writer: inout PlainWriter) { writer.append(uuidString) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    guard let uuid = UUID(uuidString: try reader.text()) else { throw PlainReader.Malformed() }
    self = uuid
  }
}

/// Stores the URL as given, and the base of a relative one.
extension URL: PlainScalar {
  static let plainTag = PlainTag.url

  func write(to writer: inout PlainWriter) {
    writer.append(relativeString)
    writer.append(baseURL?.absoluteString ?? "")
  }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    let (text, base) = (try reader.text(), try reader.text())
    guard let url = URL(string: text, relativeTo: base.isEmpty ? nil : URL(string: base)) else {
      throw PlainReader.Malformed()
    }
    self = url
  }
}

extension Decimal: PlainScalar {
  static let plainTag = PlainTag.decimal

  private static let notANumber = "NaN"

  func write(to writer: inout PlainWriter) { writer.append(isNaN ? Self.notANumber : description) }

  init(from reader: inout PlainReader) throws(PlainReader.Malformed) {
    let text = try reader.text()
    guard text != Self.notANumber else {
      self = .nan
      return
    }
    guard let decimal = Decimal(string: text) else { throw PlainReader.Malformed() }
    self = decimal
  }
}

/// The JSON of `Codable` values that are encrypted, and the name of their type.
enum PlainCodable {
  private static let infinity = "inf"
  private static let negativeInfinity = "-inf"
  private static let notANumber = "nan"

  static func encoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: infinity, negativeInfinity: negativeInfinity, nan: notANumber)
    return encoder
  }

  static func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: infinity, negativeInfinity: negativeInfinity, nan: notANumber)
    return decoder
  }
}
