internal import Foundation
internal import Prephirences

/// Converts `Codable` values to what is stored and back.
enum JSONForm {
  static func object(for value: some Encodable) throws -> Any {
    try Prephirences.jsonEncoder.encode(value)
  }

  /// Returns the value of JSON data or of an object; `nil` if the type cannot be decoded.
  static func value<Value>(of object: Any) -> Value? {
    if let value: Value = PreferenceCast.cast(object) { return value }
    guard let type = Value.self as? any Decodable.Type else { return nil }
    return try? CodableForm.decode(type, from: object, forKey: "") as? Value
  }
}
