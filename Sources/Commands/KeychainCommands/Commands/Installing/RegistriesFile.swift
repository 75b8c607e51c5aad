/// What podman's `registries.conf` says about helpers.
///
/// Of TOML, only so much is read: the array `credential-helpers` before the first table, with its
/// strings. Escapes in strings do not occur in names of programs, and are not resolved.
struct RegistriesFile {
  private enum Token: Equatable {
    case text(String)
    case mark(Character)
    case end
  }

  /// The names of the helpers.
  let helpers: [String]

  init(_ text: String) {
    var rest = text[...]
    helpers = Self.helpers(&rest)
  }

  private static func helpers(_ rest: inout Substring) -> [String] {
    while let first = token(&rest), first != .mark("[") {
      guard first != .end else { continue }
      let isSetting = first == .text("credential-helpers")
      var strings: [String] = []
      var depth = 0
      while let next = token(&rest), next != .end || depth > 0 {
        if next == .mark("[") { depth += 1 }
        if next == .mark("]") { depth -= 1 }
        if case .text(let string) = next { strings.append(string) }
      }
      if isSetting { return strings }
    }
    return []
  }

  /// Takes the next part of the text; `nil` at its end.
  private static func token(_ rest: inout Substring) -> Token? {
    rest = rest.drop { $0 == " " || $0 == "\t" }
    if rest.first == "#" { rest = rest.drop { !$0.isNewline } }
    guard let first = rest.first else { return nil }
    if first.isNewline { return take(1, &rest, .end) }
    if first == "\"" || first == "'" { return string(first, &rest) }
    if "[]=,{}".contains(first) { return take(1, &rest, .mark(first)) }
    let word = rest.prefix { !$0.isWhitespace && !"[]=,{}#\"'".contains($0) }
    return take(max(word.count, 1), &rest, .text(String(word)))
  }

  private static func string(_ quote: Character, _ rest: inout Substring) -> Token {
    let triple = String(repeating: quote, count: 3)
    let quotes = rest.hasPrefix(triple) ? triple : String(quote)
    rest = rest.dropFirst(quotes.count)
    var text = ""
    while !rest.isEmpty, !rest.hasPrefix(quotes) {
      if quote == "\"", rest.first == "\\" { text.append(rest.removeFirst()) }
      if !rest.isEmpty { text.append(rest.removeFirst()) }
    }
    return take(quotes.count, &rest, .text(text))
  }

  private static func take(_ count: Int, _ rest: inout Substring, _ token: Token) -> Token {
    rest = rest.dropFirst(count)
    return token
  }
}
