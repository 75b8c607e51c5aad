internal import Glibc

/// A value of git's setting `credential.helper`.
struct GitHelperSetting {
  private let value: String

  init(_ value: String) { self.value = value }

  var isEmpty: Bool { value.isEmpty }

  /// Returns whether git runs the link that it finds in `PATH`, or else a command; `nil` if it runs
  /// another program.
  func runsLink(of host: InstalledHost) -> Bool? {
    let helper = HelperProgram.git
    let link = helper.linkName(of: host.name)
    let words = commandWords
    guard let program = words.first else { return nil }
    let name = PathText.name(of: program)
    let isCommand = name == host.name && words.dropFirst().contains(helper.command)
    guard name == link || isCommand else { return nil }
    // A program that is not there must be installed, too.
    if program.hasPrefix("/") { return access(program, X_OK) != 0 }
    return name == link && !program.contains("/")
  }

  /// The words of what git gives to a shell: after `!` as it is, an absolute path as it is, and
  /// everything else after the name's beginning.
  private var commandWords: [String] {
    if value.hasPrefix("!") {
      let words = Self.words(value.dropFirst())
      return Array(words.drop { $0.contains("=") })
    }
    return Self.words(value.hasPrefix("/") ? value[...] : "git-credential-\(value)")
  }

  /// Splits at spaces outside quotes, as a shell does with simple commands.
  private static func words(_ text: Substring) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    for character in text {
      if character == quote {
        quote = nil
      } else if quote == nil, character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if quote == nil, character.isWhitespace {
        if let word { words.append(word) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    return words + (word.map { [$0] } ?? [])
  }
}
