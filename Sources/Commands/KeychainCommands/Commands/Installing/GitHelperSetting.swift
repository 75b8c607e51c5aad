internal import Glibc
internal import PrephirencesSystem

/// A value of git's setting `credential.helper`.
struct GitHelperSetting {
  private let value: String

  init(_ value: String) { self.value = value }

  var isEmpty: Bool { value.isEmpty }

  /// Returns the setting as a place that names the host; `nil` if git runs another program.
  func place(_ name: String, naming host: InstalledHost) -> ClientConfiguration.Place? {
    let helper = HelperProgram.git
    let link = helper.linkName(of: host.name)
    let words = commandWords
    guard let program = words.first else { return nil }
    let lastPart = PathText.name(of: program)
    // Where a relative path leads depends on where git runs.
    let isRelative = program.contains("/") && !program.hasPrefix("/")
    let path = program.contains("/") ? program : host.search.program(program)
    let isOurs = !isRelative && path.flatMap { FileIdentity($0) } == host.identity
    let isCommand = words.dropFirst().contains(helper.command)
    guard lastPart == link || isCommand && (lastPart == host.name || isOurs) else { return nil }
    if program == link { return ClientConfiguration.Place(name: name) }
    let isFound = path.map { access($0, X_OK) == 0 } ?? false
    return ClientConfiguration.Place(
      name: name, runsLink: false,
      fault: isOurs && isFound || isRelative
        ? nil : isFound ? .otherProgram(path ?? program) : .missingProgram(program))
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
    var isEscaped = false
    for character in text {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if character == quote {
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
