/// The names by which stored values tell which type they have: mangled ones.
package enum TypeName {
  /// The name of a type; `nil` if it is private, as then it cannot be found by its name.
  package static func of(_ type: Any.Type) -> String? {
    guard let name = _mangledTypeName(type), isPlain(name) else { return nil }
    return name
  }

  /// The type of a name; `nil` if this program has none that can be decoded.
  package static func decodableType(named name: String) -> (any Decodable.Type)? {
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
