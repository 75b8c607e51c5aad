internal import PreferencesCore

/// A key that is compared by its bytes, unlike text.
struct KeyBytes: Hashable, Sendable {
  let text: PreferenceKey

  init(_ text: PreferenceKey) { self.text = text }

  var bytes: [UInt8] { Array(text.utf8) }

  static func == (one: KeyBytes, other: KeyBytes) -> Bool {
    one.text.utf8.elementsEqual(other.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
