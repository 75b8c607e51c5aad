extension String {
  /// The text with everything that a terminal would act on, or not show, escaped.
  package var visible: String { escaping(\.visibleEscape) }

  /// The text with the same characters escaped as in JSON, which does not change its meaning.
  ///
  /// Use it for text that is JSON already; its line breaks stay.
  package var visibleInJSON: String {
    escaping { $0.isASCII && $0 != "\u{7F}" ? nil : $0.escapeInJSON }
  }

  private func escaping(_ escape: (Unicode.Scalar) -> String?) -> String {
    guard unicodeScalars.contains(where: \.isHidden) else { return self }
    var text = ""
    var previous: Unicode.Scalar?
    for index in unicodeScalars.indices {
      let scalar = unicodeScalars[index]
      if scalar.isHidden, !shapesEmoji(at: index, after: previous), let escape = escape(scalar) {
        text += escape
        previous = nil
      } else {
        text.unicodeScalars.append(scalar)
        previous = scalar
      }
    }
    return text
  }

  /// Returns whether a scalar joins two emoji, or selects how the one before it looks.
  private func shapesEmoji(at index: Index, after previous: Unicode.Scalar?) -> Bool {
    guard let previous else { return false }
    let next = unicodeScalars[unicodeScalars.index(after: index)...].first
    switch unicodeScalars[index].value {
    case 0x200D: return (previous.isEmoji || previous.value == 0xFE0F) && next?.isEmoji ?? false
    // The mark after a digit makes it a keycap.
    case 0xFE0E, 0xFE0F: return previous.isEmoji || next?.value == 0x20E3
    default: return false
    }
  }
}

extension Unicode.Scalar {
  /// Whether the scalar moves the cursor, changes the terminal, reorders text, or is invisible, so
  /// that two different names look the same.
  ///
  /// Unassigned scalars may become such ones.
  fileprivate var isHidden: Bool {
    guard !isASCII else { return value < 0x20 || value == 0x7F }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned: return true
    default: return properties.isDefaultIgnorableCodePoint
    }
  }

  fileprivate var isEmoji: Bool { !isASCII && properties.isEmoji }

  fileprivate var visibleEscape: String {
    switch self {
    case "\t": "\\t"
    case "\n": "\\n"
    default: "\\u{\(String(value, radix: 16))}"
    }
  }

  fileprivate var escapeInJSON: String {
    String(self).utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }
}
