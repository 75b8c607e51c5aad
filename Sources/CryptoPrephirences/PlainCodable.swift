internal import Foundation

/// The JSON of values that are encrypted as what they encode, with the name of their type.
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

  /// The mangled name of a type; `nil` if the type is private, as then it cannot be found by a name.
  static func name(of type: Any.Type) -> String? {
    guard let name = _mangledTypeName(type), isPlain(name) else { return nil }
    return name
  }

  /// The type of a mangled name; `nil` if this program has none that can be decoded.
  static func type(named name: String) -> (any Decodable.Type)? {
    guard isPlain(name) else { return nil }
    return _typeByName(name) as? any Decodable.Type
  }

  /// Whether a name has only letters, digits and underscores: for other bytes, the runtime would
  /// take some as addresses.
  private static func isPlain(_ name: String) -> Bool {
    (1...1024).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}
