internal import Prephirences

/// The names by which content types tell which `Codable` type a value has.
enum StoredType {
  /// The name of a type that can be decoded.
  static func name(of type: Any.Type) -> String? {
    type is any Decodable.Type ? TypeName.of(type) : nil
  }
}
