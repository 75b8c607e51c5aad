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
