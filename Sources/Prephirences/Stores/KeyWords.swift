/// The words of a key in the spelling of Swift, as other spellings join them: `logLevel` and `log.level`
/// are `log` and `Level` or `level`.
enum KeyWords {
  /// Returns the words.
  ///
  /// A capital begins a word behind a small letter or a digit, and in front of a small letter; what is no
  /// letter and no digit stands between two words, which may be empty.
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
