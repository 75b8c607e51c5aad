internal import Foundation
internal import Prephirences

/// The kind of encrypted content; one kind is never read as another.
enum PlainForm {
  case value, file

  /// The greatest nesting depth of a value.
  fileprivate static let greatestDepth = 200

  /// The first bytes.
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

  /// The types whose content is written unchanged.
  private static let scalars: [ObjectIdentifier: PlainTag] = [
    ObjectIdentifier(Bool.self): .bool, ObjectIdentifier(Int.self): .int,
    ObjectIdentifier(Int8.self): .int8, ObjectIdentifier(Int16.self): .int16,
    ObjectIdentifier(Int32.self): .int32, ObjectIdentifier(Int64.self): .int64,
    ObjectIdentifier(Int128.self): .int128, ObjectIdentifier(UInt.self): .uint,
    ObjectIdentifier(UInt8.self): .uint8, ObjectIdentifier(UInt16.self): .uint16,
    ObjectIdentifier(UInt32.self): .uint32, ObjectIdentifier(UInt64.self): .uint64,
    ObjectIdentifier(UInt128.self): .uint128, ObjectIdentifier(Float.self): .float,
    ObjectIdentifier(Double.self): .double, ObjectIdentifier(CGFloat.self): .cgFloat,
    ObjectIdentifier(Decimal.self): .decimal, ObjectIdentifier(String.self): .string,
    ObjectIdentifier(Data.self): .data, ObjectIdentifier(Date.self): .date,
    ObjectIdentifier(URL.self): .url, ObjectIdentifier(UUID.self): .uuid,
  ]

  fileprivate static func scalar(_ type: Any.Type) -> PlainTag? { scalars[ObjectIdentifier(type)] }
}

private let decimalNotANumber = "NaN"

/// Writes the form of a value for encryption, from which the same type can be read.
///
/// A value is a byte for its type, followed by its content. Integers are little-endian; bytes and
/// text are preceded by their length in 8 bytes.
struct PlainWriter {
  private(set) var data: Data

  /// Returns the form of a value or of a file's dictionary; throws if the value has no form.
  static func data(
    of value: Any, _ form: PlainForm = .value
  ) throws(CryptoPrephirencesError) -> Data {
    var writer = PlainWriter(data: form.magic)
    try writer.write(value)
    return writer.data
  }

  private mutating func append(_ bytes: Data) {
    data.append(littleEndian: UInt64(bytes.count))
    data.append(bytes)
  }

  private mutating func append(_ text: String) { append(Data(text.utf8)) }

  private mutating func write(_ value: Any, depth: Int = 0) throws(CryptoPrephirencesError) {
    guard depth < PlainForm.greatestDepth else { throw .unstorable(type(of: value)) }
    if let tag = PlainTag.scalar(type(of: value)) { return write(scalar: value, tag) }
    switch value {
    // Checked before the values: a number object could match any type.
    case is NSNumber where type(of: value) is AnyClass: try writeArchive(value)
    case let text as String: write(scalar: text, .string)
    case let data as Data: write(scalar: data, .data)
    case let array as [Any]: try write(array: array, depth: depth)
    case let dictionary as [String: Any]: try write(dictionary: dictionary, depth: depth)
    case let codable as any Codable: try write(codable: codable)
    default: try writeArchive(value)
    }
  }

  private mutating func write(scalar value: Any, _ tag: PlainTag) {
    data.append(tag.rawValue)
    switch (tag, value) {
    case (.bool, let truth as Bool): data.append(truth ? 1 : 0)
    case (.float, let number as Float): data.append(littleEndian: number.bitPattern)
    case (.double, let number as Double): data.append(littleEndian: number.bitPattern)
    case (.cgFloat, let number as CGFloat): data.append(littleEndian: Double(number).bitPattern)
    case (.decimal, let number as Decimal):
      append(number.isNaN ? decimalNotANumber : number.description)
    case (.string, let text as String): append(text)
    case (.data, let bytes as Data): append(bytes)
    case (.date, let date as Date):
      data.append(littleEndian: date.timeIntervalSinceReferenceDate.bitPattern)
    case (.url, let url as URL):
      // The URL as given, and the base of a relative one.
      append(url.relativeString)
      append(url.baseURL?.absoluteString ?? "")
    case (.uuid, let uuid as UUID): append(uuid.uuidString)
    case (_, let integer as any FixedWidthInteger): data.append(littleEndian: integer)
    default: break
    }
  }

  private mutating func write(array: [Any], depth: Int) throws(CryptoPrephirencesError) {
    data.append(PlainTag.array.rawValue)
    data.append(littleEndian: UInt64(array.count))
    for element in array {
      guard let element = unwrapped(element) else { throw .unstorable(type(of: element)) }
      try write(element, depth: depth + 1)
    }
  }

  private mutating func write(
    dictionary: [String: Any], depth: Int
  ) throws(CryptoPrephirencesError) {
    let dictionary = dictionary.droppingNil()
    data.append(PlainTag.dictionary.rawValue)
    data.append(littleEndian: UInt64(dictionary.count))
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

extension Data {
  mutating func append(littleEndian integer: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: integer.littleEndian) { append(contentsOf: $0) }
  }
}

/// Reads the output of ``PlainWriter``; it is authenticated, but any bytes are handled safely.
struct PlainReader {
  private struct Malformed: Error {}

  private(set) var rest: Data

  init(_ data: Data) { rest = data }

  /// Returns the value in a form, or in an archive of `NSKeyedArchiver` from other programs, with
  /// the written type; `type` is used if the type of the value is private.
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
    guard let value = try? reader.value(as: type), reader.rest.isEmpty else { throw .undecodable }
    return value
  }

  mutating func byte() throws -> UInt8 { try Self.valid(rest.popFirst()) }

  mutating func bytes(_ count: Int) throws -> Data {
    guard count >= 0, count <= rest.count else { throw Malformed() }
    defer { rest = rest.dropFirst(count) }
    return Data(rest.prefix(count))
  }

  mutating func integer<Integer: FixedWidthInteger>() throws -> Integer {
    try bytes(MemoryLayout<Integer>.size).reversed().reduce(0) {
      $0 << 8 | Integer(truncatingIfNeeded: $1)
    }
  }

  private mutating func double() throws -> Double { Double(bitPattern: try integer()) }

  private mutating func data() throws -> Data { try bytes(try count()) }

  private mutating func text() throws -> String {
    try Self.valid(String(validating: try data(), as: UTF8.self))
  }

  /// Reads a count of bytes, or of values with at least one byte each.
  private mutating func count() throws -> Int {
    let count: UInt64 = try integer()
    guard count <= rest.count else { throw Malformed() }
    return Int(count)
  }

  private static func valid<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw Malformed() }
    return value
  }

  private mutating func value(as type: Any.Type? = nil, depth: Int = 0) throws -> Any {
    guard depth < PlainForm.greatestDepth else { throw Malformed() }
    switch try Self.valid(PlainTag(rawValue: try byte())) {
    case .bool: return try byte() != 0
    case .int: return try integer() as Int
    case .int8: return try integer() as Int8
    case .int16: return try integer() as Int16
    case .int32: return try integer() as Int32
    case .int64: return try integer() as Int64
    case .int128: return try integer() as Int128
    case .uint: return try integer() as UInt
    case .uint8: return try integer() as UInt8
    case .uint16: return try integer() as UInt16
    case .uint32: return try integer() as UInt32
    case .uint64: return try integer() as UInt64
    case .uint128: return try integer() as UInt128
    case .float: return Float(bitPattern: try integer())
    case .double: return try double()
    case .cgFloat: return CGFloat(try double())
    case .decimal:
      let text = try text()
      return text == decimalNotANumber ? Decimal.nan : try Self.valid(Decimal(string: text))
    case .string: return try text()
    case .data: return try data()
    case .date: return Date(timeIntervalSinceReferenceDate: try double())
    case .url:
      let (text, base) = (try text(), try text())
      return try Self.valid(URL(string: text, relativeTo: base.isEmpty ? nil : URL(string: base)))
    case .uuid: return try Self.valid(UUID(uuidString: try text()))
    case .array:
      // Memory is not reserved for the count, because nested arrays can claim it repeatedly.
      var array: [Any] = []
      for _ in 0..<(try count()) { array.append(try value(depth: depth + 1)) }
      return array
    case .dictionary:
      return try (0..<count()).reduce(into: [String: Any]()) { dictionary, _ in
        dictionary[try text()] = try value(depth: depth + 1)
      }
    case .codable:
      let name = try text()
      let type = try Self.valid(
        TypeName.decodableType(named: name) ?? type as? any Decodable.Type)
      return try PlainCodable.decoder().decode(type, from: try data())
    case .archive: return try Self.valid(PreferenceArchive.unarchive(try data()))
    }
  }
}

/// The coders of `Codable` values that are encrypted.
private enum PlainCodable {
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
