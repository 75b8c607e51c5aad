/// The names by which content types tell which `Codable` type a value has.
enum StoredType {
  /// The mangled name of a type that can be decoded.
  static func name(of type: Any.Type) -> String? {
    guard type is any Decodable.Type, let name = _mangledTypeName(type), isPlain(name) else {
      return nil
    }
    return name
  }

  /// The type of a mangled name.
  ///
  /// Private types cannot be found by their names.
  ///
  /// - Returns: The type, or `nil` if this program has none of that name that can be decoded.
  static func named(_ name: String) -> (any Decodable.Type)? {
    guard isPlain(name) else { return nil }
    return _typeByName(name) as? any Decodable.Type
  }

  /// Whether a name is of bounded length and has no bytes that the runtime would take for an
  /// address: the name may come from another program.
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
