/// The source of a manual page, in the macros of man(7).
struct Roff {
  private(set) var text = ""

  /// Returns text without special characters.
  ///
  /// Hyphens can be copied and typed, because most of them begin an option.
  static func escaped(_ text: some StringProtocol) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "`": result += "\\(ga"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
      default:
        let code = String(scalar.value, radix: 16, uppercase: true)
        result += "\\[u\(String(repeating: "0", count: max(0, 4 - code.count)))\(code)]"
      }
    }
    return result.hasPrefix(".") ? "\\&" + result : result
  }

  static func bold(_ text: some StringProtocol) -> String { "\\fB\(escaped(text))\\fR" }
  static func italic(_ text: some StringProtocol) -> String { "\\fI\(escaped(text))\\fR" }

  /// Adds a macro with arguments, each of which may have spaces.
  mutating func macro(_ name: String, _ arguments: String...) {
    let quoted = arguments.map { "\"\($0.replacing("\"", with: "\\(dq"))\"" }
    line(([".\(name)"] + quoted).joined(separator: " "))
  }

  /// Adds a line that is escaped already.
  mutating func line(_ line: String) { text += line + "\n" }

  /// Adds an entry: a name, and an indented text below it.
  mutating func entry(_ tag: String, _ body: String) {
    line(".TP")
    line(tag)
    line(body.isEmpty ? "\\&" : body)
  }

  /// Adds lines that stay unchanged.
  mutating func example(_ lines: some Sequence<Substring>) {
    line(".nf")
    line(".RS 2")
    for example in lines { line(Self.escaped(example)) }
    line(".RE")
    line(".fi")
  }
}
