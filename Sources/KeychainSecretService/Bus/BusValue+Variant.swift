internal import CLibsecret

extension BusValue {
  /// Makes GLib's value, whose reference floats: whoever takes it sinks it.
  ///
  /// A text must hold no NUL, which no message can carry.
  func makeVariant(_ library: Libsecret) -> OpaquePointer? {
    let functions = library.functions
    switch self {
    case .string(let text): return unsafe functions.g_variant_new_string(text)
    case .objectPath(let path): return unsafe functions.g_variant_new_object_path(path)
    case .bool(let value): return functions.g_variant_new_boolean(value ? 1 : 0)
    case .uint32(let value): return functions.g_variant_new_uint32(value)
    case .variant(let value):
      return unsafe functions.g_variant_new_variant(value.makeVariant(library))
    case .entry(let key, let value):
      return unsafe functions.g_variant_new_dict_entry(
        key.makeVariant(library), value.makeVariant(library))
    case .tuple(let values):
      let children = unsafe values.map { unsafe $0.makeVariant(library) }
      return unsafe functions.g_variant_new_tuple(children, children.count)
    case .array(let values, let elementType):
      let children = unsafe values.map { unsafe $0.makeVariant(library) }
      let type = unsafe functions.g_variant_type_new(elementType)
      defer { unsafe functions.g_variant_type_free(type) }
      return unsafe functions.g_variant_new_array(type, children, children.count)
    case .secret(let reference): return unsafe reference.pointer
    case .uint64, .other: return functions.g_variant_new_tuple(nil, 0)
    }
  }

  /// Reads GLib's value, and takes over the reference to it.
  init(taking pointer: OpaquePointer, _ library: Libsecret) {
    let reference = unsafe VariantReference(taking: pointer, library)
    let functions = library.functions
    guard let type = unsafe functions.g_variant_get_type_string(pointer) else {
      self = .other
      return
    }
    self = Self.read(reference, type: unsafe String(cString: type), library)
  }

  private static func read(
    _ reference: VariantReference, type: String, _ library: Libsecret
  ) -> BusValue {
    let functions = library.functions
    let pointer = unsafe reference.pointer
    switch type.utf8.first.map({ Unicode.Scalar($0) }) {
    case "s", "g": return .string(Self.text(of: reference, library))
    case "o": return .objectPath(Self.text(of: reference, library))
    case "b": return .bool(unsafe functions.g_variant_get_boolean(pointer) != 0)
    case "u": return .uint32(unsafe functions.g_variant_get_uint32(pointer))
    case "t": return .uint64(unsafe functions.g_variant_get_uint64(pointer))
    case "v":
      let inner = unsafe functions.g_variant_get_variant(pointer)
      return unsafe inner.map { unsafe .variant(BusValue(taking: $0, library)) } ?? .other
    case "a":
      return .array(Self.children(of: reference, library), elementType: String(type.dropFirst()))
    case "{":
      let children = Self.children(of: reference, library)
      return children.count == 2 ? .entry(children[0], children[1]) : .other
    case "(" where type == Self.secretType: return .secret(reference)
    case "(": return .tuple(Self.children(of: reference, library))
    default: return .other
    }
  }

  private static let secretType = "(oayays)"

  private static func text(of reference: VariantReference, _ library: Libsecret) -> String {
    var count = 0
    guard
      let start = unsafe library.functions.g_variant_get_string(reference.pointer, &count)
    else { return "" }
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
    return unsafe String(decoding: bytes, as: UTF8.self)
  }

  private static func children(
    of reference: VariantReference, _ library: Libsecret
  ) -> [BusValue] {
    let functions = library.functions
    return unsafe (0..<functions.g_variant_n_children(reference.pointer)).compactMap { index in
      let child = unsafe functions.g_variant_get_child_value(reference.pointer, index)
      return unsafe child.map { unsafe BusValue(taking: $0, library) }
    }
  }
}
