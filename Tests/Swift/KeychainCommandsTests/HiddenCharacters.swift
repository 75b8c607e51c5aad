/// Characters that move, reorder or show nothing.
enum HiddenCharacters {
  /// Some of each kind, and the ends of their ranges.
  static let all =
    "\u{1}\u{7}\u{8}\t\n\r\u{1B}\u{1F}\u{7F}\u{80}\u{85}\u{9B}\u{9F}\u{AD}\u{600}\u{61C}\u{6DD}\u{70F}"
    + "\u{180E}\u{200B}\u{200F}\u{2028}\u{2029}\u{202A}\u{202E}\u{2060}\u{2066}\u{206F}\u{FEFF}\u{FFF9}"
    + "\u{FFFB}\u{110BD}\u{1BCA0}\u{1D173}\u{E0001}\u{E0020}\u{E0041}\u{E007F}"

  /// Returns the hidden characters of a text, except those that end lines and fields.
  static func found(in text: String) -> [Unicode.Scalar] {
    text.unicodeScalars.filter { all.unicodeScalars.contains($0) && $0 != "\n" && $0 != "\t" }
  }
}
