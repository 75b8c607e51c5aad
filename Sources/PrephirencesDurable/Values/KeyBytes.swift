internal import Prephirences

/// A key that is compared by its bytes, unlike text.
struct KeyBytes: Hashable, Sendable {
  let text: PreferenceKey

  init(_ text: PreferenceKey) { self.text = text }

  static func == (one: KeyBytes, other: KeyBytes) -> Bool {
    one.text.utf8.elementsEqual(other.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
