internal import CLibsecret

/// A value of GLib's own type, kept as it is: for secrets, which only libsecret reads and writes.
@safe
final class VariantReference: @unchecked Sendable {
  // @unchecked Sendable because a variant never changes, and counts its references atomically.
  let pointer: OpaquePointer
  private let library: Libsecret

  /// Takes over a reference; one that floats must have been sunk.
  init(taking pointer: OpaquePointer, _ library: Libsecret) {
    unsafe self.pointer = pointer
    self.library = library
  }

  deinit { unsafe library.functions.g_variant_unref(pointer) }
}
