/// One notification of the kernel (inotify).
struct Notification {
  let watch: CInt
  let mask: UInt32
  let name: String?

  /// The fields before the name: watch, mask, cookie and the length of the name, 4 bytes each.
  private static let headCount = 16

  static func forEach(in bytes: ArraySlice<UInt8>, _ body: (Notification) -> Void) {
    var rest = bytes
    while rest.count >= headCount {
      let count = Int(field(3, of: rest))
      guard rest.count >= headCount + count else { return }
      let name = rest.dropFirst(headCount).prefix(count).prefix { $0 != 0 }
      body(
        Notification(
          watch: CInt(bitPattern: field(0, of: rest)), mask: field(1, of: rest),
          name: name.isEmpty ? nil : String(decoding: name, as: UTF8.self)))
      rest = rest.dropFirst(headCount + count)
    }
  }

  private static func field(_ index: Int, of bytes: ArraySlice<UInt8>) -> UInt32 {
    let field = bytes.dropFirst(index * 4).prefix(4)
    return unsafe field.withUnsafeBytes { unsafe $0.loadUnaligned(as: UInt32.self) }
  }
}
