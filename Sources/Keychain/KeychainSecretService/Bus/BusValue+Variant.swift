internal import CLibsecret

extension BusValue {
  /// Creates GLib's value, with a floating reference that its user must sink.
  ///
  /// A text must not contain NUL, which no message can carry.
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
}
