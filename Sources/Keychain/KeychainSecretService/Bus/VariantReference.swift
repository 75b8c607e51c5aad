internal import CLibsecret

/// A value of GLib's own type: a received value before its type is checked, or a secret, which only
/// libsecret reads and writes.
///
/// Compare the type before reading anything else.
@safe
final class VariantReference: @unchecked Sendable {
  // @unchecked Sendable because a variant never changes, and counts its references atomically.
  let pointer: OpaquePointer
  private let library: Libsecret

  /// Takes ownership of a reference; a floating one must have been sunk.
  init(taking pointer: OpaquePointer, _ library: Libsecret) {
    unsafe self.pointer = pointer
    self.library = library
  }

  /// Adds a reference to a value that another object owns; `nil` if there is no value.
  init?(sharing pointer: OpaquePointer?, _ library: Libsecret) {
    guard let pointer = unsafe pointer,
      let shared = unsafe library.functions.g_variant_ref(pointer)
    else { return nil }
    unsafe self.pointer = shared
    self.library = library
  }

  deinit { unsafe library.functions.g_variant_unref(pointer) }

  /// The type, as a D-Bus signature.
  var type: String {
    unsafe library.functions.g_variant_get_type_string(pointer).map { unsafe String(cString: $0) }
      ?? ""
  }

  /// The number of children of an array, tuple or entry.
  var count: Int { unsafe library.functions.g_variant_n_children(pointer) }

  /// Returns a child of an array, tuple or entry; the index must be valid.
  func child(_ index: Int) -> VariantReference? {
    unsafe library.functions.g_variant_get_child_value(pointer, index)
      .map { unsafe VariantReference(taking: $0, library) }
  }

  /// The content of a variant.
  var held: VariantReference? {
    unsafe library.functions.g_variant_get_variant(pointer)
      .map { unsafe VariantReference(taking: $0, library) }
  }

  /// A string, path or signature.
  var text: String {
    var count = 0
    guard let start = unsafe library.functions.g_variant_get_string(pointer, &count) else {
      return ""
    }
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
    return unsafe String(decoding: bytes, as: UTF8.self)
  }

  /// An array of bytes.
  var bytes: [UInt8] {
    var count = 0
    let start = unsafe library.functions.g_variant_get_fixed_array(pointer, &count, 1)
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }

  var bool: Bool { unsafe library.functions.g_variant_get_boolean(pointer) != 0 }

  var uint32: UInt32 { unsafe library.functions.g_variant_get_uint32(pointer) }

  var uint64: UInt64 { unsafe library.functions.g_variant_get_uint64(pointer) }
}
