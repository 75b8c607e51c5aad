internal import Prephirences

/// The names of `Codable` types in content types.
enum StoredType {
  /// Returns the name of a type that can be decoded.
  static func name(of type: Any.Type) -> String? {
    type is any Decodable.Type ? TypeName.of(type) : nil
  }
}
