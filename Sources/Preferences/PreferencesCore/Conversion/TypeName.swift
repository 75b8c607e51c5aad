/// The mangled type names that are stored with values.
package enum TypeName {
  /// Returns the name of a type; `nil` if it is private, because it could not be found by its name.
  package static func of(_ type: Any.Type) -> String? {
    guard let name = _mangledTypeName(type), isPlain(name) else { return nil }
    return name
  }

  /// Returns the type with a name; `nil` if this program has no such decodable type.
  package static func decodableType(named name: String) -> (any Decodable.Type)? {
    guard isPlain(name) else { return nil }
    return _typeByName(name) as? any Decodable.Type
  }

  /// Returns whether a name, which may come from another program, has a bounded length and no bytes
  /// that the runtime would read as an address.
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
