/// Splits a key in Swift spelling into words: `logLevel` and `log.level` are `log` and `Level` or
/// `level`.
enum KeyWords {
  /// Returns the words.
  ///
  /// A capital letter starts a word if it follows a small letter or a digit, or precedes a small
  /// letter; any character that is not a letter or digit separates two words, which may be empty.
  static func of(_ key: PreferenceKey) -> [String] {
    let characters = Array(key)
    var words = [""]
    for (index, character) in characters.enumerated() {
      guard character.isLetter || character.isNumber else {
        words.append("")
        continue
      }
      if index > 0, beginsWord(at: index, in: characters) { words.append("") }
      words[words.count - 1].append(character)
    }
    return words
  }

  private static func beginsWord(at index: Int, in characters: [Character]) -> Bool {
    guard characters[index].isUppercase else { return false }
    let last = characters[index - 1]
    if last.isLowercase || last.isNumber { return true }
    return last.isUppercase && index + 1 < characters.count && characters[index + 1].isLowercase
  }
}
