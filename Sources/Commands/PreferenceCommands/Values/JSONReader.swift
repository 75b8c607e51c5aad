internal import Prephirences

/// Reads JSON strictly: no comments, no name twice, no number without a value.
///
/// Foundation's reader rounds whole numbers that a `Double` does not hold, and takes one of two
/// members of the same name.
struct JSONReader {
  private var rest: Substring.UnicodeScalarView
  private var line = 1

  /// Returns the value of a text.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/damaged`` if it is not JSON, which
  ///   names the line.
  static func read(_ text: String) throws(PreferencesError) -> JSONValue {
    var reader = JSONReader(rest: Substring(text).unicodeScalars)
    if reader.rest.first == "\u{FEFF}" { reader.rest.removeFirst() }
    let value = try reader.value(depth: 0)
    reader.skipSpace()
    guard reader.rest.isEmpty else { throw reader.failure("something follows the value") }
    return value
  }

  private func failure(_ reason: String) -> PreferencesError {
    PreferencesError(.damaged, "this is not JSON: line \(line): \(reason)")
  }

  private mutating func skipSpace() {
    while let scalar = rest.first, " \t\r\n".unicodeScalars.contains(scalar) {
      if scalar == "\n" { line += 1 }
      rest.removeFirst()
    }
  }

  private mutating func value(depth: Int) throws(PreferencesError) -> JSONValue {
    guard depth <= StoredValue.maximumDepth else { throw failure("it is nested too deeply") }
    skipSpace()
    guard let first = rest.first else { throw failure("it ends too early") }
    switch first {
    case "{": return .object(try object(depth: depth))
    case "[": return .array(try array(depth: depth))
    case "\"": return .string(try string())
    case "-", "0"..."9": return .number(try number())
    default: return try word()
    }
  }

  private mutating func word() throws(PreferencesError) -> JSONValue {
    let letters = rest.prefix { ("a"..."z").contains($0) }
    let words: [String: JSONValue] = ["true": .bool(true), "false": .bool(false), "null": .null]
    guard let value = words[String(letters)] else { throw failure("a value is missing") }
    rest.removeFirst(letters.count)
    return value
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    skipSpace()
    guard rest.first == scalar else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func array(depth: Int) throws(PreferencesError) -> [JSONValue] {
    rest.removeFirst()
    var values: [JSONValue] = []
    if take("]") { return values }
    repeat { values.append(try value(depth: depth + 1)) } while take(",")
    guard take("]") else { throw failure("an array has no ']'") }
    return values
  }

  private mutating func object(depth: Int) throws(PreferencesError) -> [JSONValue.Member] {
    rest.removeFirst()
    var members: [JSONValue.Member] = []
    var names: Set<[UInt8]> = []
    if take("}") { return members }
    repeat {
      skipSpace()
      guard rest.first == "\"" else { throw failure("the name of a member is missing") }
      let name = try string()
      guard names.insert(Array(name.utf8)).inserted else {
        throw failure("an object has a name twice")
      }
      guard take(":") else { throw failure("a name has no ':'") }
      members.append(JSONValue.Member(name: name, value: try value(depth: depth + 1)))
    } while take(",")
    guard take("}") else { throw failure("an object has no '}'") }
    return members
  }
}

// Numbers and text.
extension JSONReader {
  private mutating func number() throws(PreferencesError) -> String {
    let start = rest
    _ = skip("-")
    // A whole number has no zeros before it.
    var isValid = skip("0") ? !Self.isDigit(rest.first) : skipDigits()
    if skip(".") { isValid = skipDigits() && isValid }
    if skip("e") || skip("E") {
      _ = skip("+") || skip("-")
      isValid = skipDigits() && isValid
    }
    guard isValid else { throw failure("a number is malformed") }
    return String(start[..<rest.startIndex])
  }

  private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard rest.first == scalar else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func skipDigits() -> Bool {
    let start = rest.startIndex
    while Self.isDigit(rest.first) { rest.removeFirst() }
    return rest.startIndex > start
  }

  private static func isDigit(_ scalar: Unicode.Scalar?) -> Bool {
    scalar.map { ("0"..."9").contains($0) } ?? false
  }

  private mutating func string() throws(PreferencesError) -> String {
    rest.removeFirst()
    var text = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\"": return String(text)
      case "\\": text.append(try escaped())
      case _ where scalar.value < 0x20: throw failure("a text contains a control character")
      default: text.append(scalar)
      }
    }
    throw failure("a text does not end")
  }

  private mutating func escaped() throws(PreferencesError) -> Unicode.Scalar {
    switch rest.popFirst() {
    case "\"": return "\""
    case "\\": return "\\"
    case "/": return "/"
    case "b": return "\u{8}"
    case "f": return "\u{C}"
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "u": return try unicode()
    default: throw failure("a backslash is followed by an unknown character")
    }
  }

  /// Reads the digits of an escape, and those of the second half of a pair.
  private mutating func unicode() throws(PreferencesError) -> Unicode.Scalar {
    let first = try unit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    if (0xD800..<0xDC00).contains(first), rest.starts(with: "\\u".unicodeScalars) {
      rest.removeFirst(2)
      let second = try unit()
      if (0xDC00..<0xE000).contains(second),
        let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
      {
        return scalar
      }
    }
    throw failure("a text contains half a character")
  }

  private mutating func unit() throws(PreferencesError) -> UInt32 {
    let digits = String(rest.prefix(4))
    guard digits.utf8.count == 4, !digits.hasPrefix("+"), let unit = UInt32(digits, radix: 16)
    else { throw failure("an escape needs four hexadecimal digits") }
    rest.removeFirst(4)
    return unit
  }
}
