internal import Foundation
internal import Prephirences

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
  ///   - form: The expected form.
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
