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

/// The byte for the type of a value.
enum PlainTag: UInt8 {
  case array = 23
  case dictionary, codable, archive

  /// The types whose content is written unchanged; their bytes are 1, 2, and so on.
  fileprivate static let scalars: [Any.Type] = [
    Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self, UInt.self,
    UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self, Float.self, Double.self,
    CGFloat.self, Decimal.self, String.self, Data.self, Date.self, URL.self, UUID.self,
  ]
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
    if let index = PlainTag.scalars.firstIndex(where: { $0 == type(of: value) }) {
      data.append(UInt8(index + 1))
      return write(scalar: value)
    }
    switch value {
    // Checked before the values: a number object could match any type.
    case is NSNumber where type(of: value) is AnyClass: try writeArchive(value)
    case let text as String: try write(text, depth: depth)
    case let data as Data: try write(data, depth: depth)
    case let array as [Any]: try write(array: array, depth: depth)
    case let dictionary as [String: Any]: try write(dictionary: dictionary, depth: depth)
    case let codable as any Codable: try write(codable: codable)
    default: try writeArchive(value)
    }
  }

  private mutating func write(scalar value: Any) {
    switch value {
    case let truth as Bool: data.append(truth ? 1 : 0)
    case let integer as any FixedWidthInteger: data.append(littleEndian: integer)
    case let number as Float: data.append(littleEndian: number.bitPattern)
    case let number as Double: data.append(littleEndian: number.bitPattern)
    case let number as CGFloat: data.append(littleEndian: Double(number).bitPattern)
    case let number as Decimal: append(number.isNaN ? decimalNotANumber : number.description)
    case let text as String: append(text)
    case let bytes as Data: append(bytes)
    case let date as Date:
      data.append(littleEndian: date.timeIntervalSinceReferenceDate.bitPattern)
    case let url as URL:
      // The URL as given, and the base of a relative one.
      append(url.relativeString)
      append(url.baseURL?.absoluteString ?? "")
    case let uuid as UUID: append(uuid.uuidString)
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
    guard let json = try? JSONEncoder.writingEveryNumber.encode(codable) else {
      throw .unstorable(type)
    }
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

  mutating func integer<Integer: FixedWidthInteger>(
    _ type: Integer.Type = Integer.self
  ) throws -> Integer {
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

  private mutating func scalar(_ type: Any.Type) throws -> Any {
    switch type {
    case is Bool.Type: return try byte() != 0
    case let type as any FixedWidthInteger.Type: return try integer(type)
    case is Float.Type: return Float(bitPattern: try integer())
    case is CGFloat.Type: return CGFloat(try double())
    case is Decimal.Type:
      let text = try text()
      return text == decimalNotANumber ? Decimal.nan : try Self.valid(Decimal(string: text))
    case is String.Type: return try text()
    case is Data.Type: return try data()
    case is Date.Type: return Date(timeIntervalSinceReferenceDate: try double())
    case is URL.Type:
      let (text, base) = (try text(), try text())
      return try Self.valid(URL(string: text, relativeTo: base.isEmpty ? nil : URL(string: base)))
    case is UUID.Type: return try Self.valid(UUID(uuidString: try text()))
    case is Double.Type: return try double()
    default: throw Malformed()
    }
  }

  private mutating func value(as type: Any.Type? = nil, depth: Int = 0) throws -> Any {
    guard depth < PlainForm.greatestDepth else { throw Malformed() }
    let tag = try byte()
    if tag > 0, tag <= PlainTag.scalars.count { return try scalar(PlainTag.scalars[Int(tag) - 1]) }
    switch try Self.valid(PlainTag(rawValue: tag)) {
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
      return try JSONDecoder.readingEveryNumber.decode(type, from: try data())
    case .archive: return try Self.valid(PreferenceArchive.unarchive(try data()))
    }
  }
}
