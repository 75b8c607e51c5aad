internal import FoundationEssentials

/// The number that text begins with, and the path that it abbreviates, as `NSString` of Foundation
/// reads them; other text is 0 or `false`.
extension String {
  /// The integer at the start of the text; the largest one if the number is larger.
  var leadingInteger: Int {
    var rest = unicodeScalars[...]
    let isNegative = rest.takeSign(skipping: Unicode.Scalar.isSpaceOrNewline)
    let digits = rest.takeDigits()
    guard !digits.isEmpty else { return 0 }
    return Int((isNegative ? "-" : "") + digits) ?? (isNegative ? .min : .max)
  }

  /// The number at the start of the text; 0 if its exponent has no digits.
  var leadingDouble: Double {
    var rest = unicodeScalars[...]
    let isNegative = rest.takeSign(skipping: Unicode.Scalar.isSpace)
    let integer = rest.takeDigits()
    let fraction = rest.take(where: { $0 == "." }) == nil ? "" : rest.takeDigits()
    guard !integer.isEmpty || !fraction.isEmpty else { return 0 }
    var number = "\(isNegative ? "-" : "")\(integer.isEmpty ? "0" : integer)"
    if !fraction.isEmpty { number += ".\(fraction)" }
    if rest.take(where: { $0 == "e" || $0 == "E" }) != nil {
      number += "e" + (rest.take(where: { $0 == "+" || $0 == "-" }).map { String($0) } ?? "")
      number += rest.takeDigits()
    }
    return Double(number) ?? 0
  }

  /// Whether the text begins with `t`, `y` or a number whose first digit other than 0 is one of its
  /// integer part.
  var leadingBool: Bool {
    var rest = self[...]
    func skipSpace() {
      rest = rest.drop { $0.unicodeScalars.allSatisfy(Unicode.Scalar.isSpaceOrNewline) }
    }
    skipSpace()
    if let first = rest.first, "tTyY".contains(first) { return true }
    if let first = rest.first, "+-".contains(first) { rest.removeFirst() }
    skipSpace()
    rest = rest.drop { $0 == "0" }
    skipSpace()
    return rest.first.map { "123456789".contains($0) } ?? false
  }

  /// The path with the home directory in place of `~` or `~user`; unchanged if there is none.
  var expandingTilde: String {
    guard utf8.first == UInt8(ascii: "~") else { return self }
    let user = dropFirst().prefix { $0 != "/" }
    let files = FileManager.default
    guard
      let home = user.isEmpty
        ? files.homeDirectoryForCurrentUser : files.homeDirectory(forUser: String(user))
    else { return self }
    var path = home.path + dropFirst(1 + user.count)
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    return path
  }
}

extension Substring.UnicodeScalarView {
  /// Takes spaces, a sign, and spaces behind it; returns whether the sign is a minus.
  fileprivate mutating func takeSign(skipping isSpace: (Unicode.Scalar) -> Bool) -> Bool {
    self = drop(while: isSpace)
    guard let sign = take(where: { $0 == "+" || $0 == "-" }) else { return false }
    self = drop(while: isSpace)
    return sign == "-"
  }

  fileprivate mutating func take(where condition: (Unicode.Scalar) -> Bool) -> Unicode.Scalar? {
    first.map(condition) == true ? removeFirst() : nil
  }

  fileprivate mutating func takeDigits() -> String {
    let digits = prefix { "0"..."9" ~= $0 }
    self = self[digits.endIndex...]
    return String(digits)
  }
}

extension Unicode.Scalar {
  fileprivate static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "\t" || scalar == "\u{200B}" || scalar.properties.generalCategory == .spaceSeparator
  }

  fileprivate static func isSpaceOrNewline(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\n"..."\r", "\u{85}", "\u{2028}", "\u{2029}": true
    default: isSpace(scalar)
    }
  }
}
