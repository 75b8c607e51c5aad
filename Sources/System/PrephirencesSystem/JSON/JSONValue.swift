/// A value of JSON; numbers keep their digits, and objects every member.
package indirect enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// A member of an object.
  package struct Member: Equatable, Sendable {
    package let name: String
    package let value: JSONValue

    package init(name: String, value: JSONValue) { (self.name, self.value) = (name, value) }
  }

  /// An object of members in pairs.
  package static func object(_ members: [(String, JSONValue)]) -> JSONValue {
    .object(members.map { Member(name: $0, value: $1) })
  }

  package static func number(_ number: some BinaryInteger) -> JSONValue { .number("\(number)") }

  package static func texts(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }

  /// The name of the type in a sentence.
  package var phrase: String {
    switch self {
    case .null: "null"
    case .bool: "a truth value"
    case .number: "a number"
    case .string: "text"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

// MARK: - Reading

extension JSONValue {
  /// Reads a text strictly: no comments, no name twice, no number without a value.
  ///
  /// Foundation's reader rounds whole numbers that a `Double` does not hold, and takes one of two
  /// members of the same name. A byte order mark at the start is skipped.
  package init(reading text: String, maximumDepth: Int = 64) throws {
    var text = text
    text.makeContiguousUTF8()
    if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
    try self.init(reading: text.utf8Span.span, maximumDepth: maximumDepth)
  }

  /// Reads bytes as strictly; their texts must be UTF-8.
  package init(reading bytes: Span<UInt8>, maximumDepth: Int = 64) throws {
    var scanner = JSONScanner(maximumDepth: maximumDepth)
    self = try Self.value(&scanner, bytes)
    try scanner.end(in: bytes)
  }

  private static func value(
    _ scanner: inout JSONScanner, _ bytes: Span<UInt8>
  ) throws -> JSONValue {
    switch try scanner.kind(in: bytes) {
    case .object: return .object(try members(&scanner, bytes))
    case .array:
      var values: [JSONValue] = []
      try scanner.array(in: bytes) { values.append(try value(&$0, bytes)) }
      return .array(values)
    case .text: return .string(try text(&scanner, bytes))
    case .number:
      var digits: [UInt8] = []
      try scanner.number(in: bytes) { digits.append($0) }
      return .number(String(decoding: digits, as: UTF8.self))
    case .word: return try scanner.word(in: bytes).map(JSONValue.bool) ?? .null
    }
  }

  private static func members(
    _ scanner: inout JSONScanner, _ bytes: Span<UInt8>
  ) throws -> [Member] {
    var members: [Member] = []
    // Swift compares strings by meaning, but names may differ in bytes alone.
    var names: Set<[UInt8]> = []
    try scanner.object(in: bytes) { scanner in
      let name = try text(&scanner, bytes)
      guard names.insert(Array(name.utf8)).inserted else {
        throw scanner.failure("an object has a name twice")
      }
      try scanner.colon(in: bytes)
      members.append(Member(name: name, value: try value(&scanner, bytes)))
    }
    return members
  }

  private static func text(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws -> String {
    var text: [UInt8] = []
    try scanner.text(in: bytes) { text.append($0) }
    guard let text = String(validating: text, as: UTF8.self) else {
      throw scanner.failure("a text is not UTF-8")
    }
    return text
  }
}

extension JSONError {
  /// Returns the number of the line at which reading stopped, from 1.
  package func line(in text: String) -> Int {
    1 + text.utf8.prefix(position).count { $0 == UInt8(ascii: "\n") }
  }
}

// MARK: - Writing

extension JSONValue {
  /// The value on several lines, with members in the order of their names' bytes, without a final
  /// newline.
  package var lines: String { text(margin: "\n") }

  /// The same as Foundation's encoder writes it: lines in an empty list, and two more short
  /// escapes.
  package var linesOfFoundation: String { text(margin: "\n", asFoundation: true) }

  /// The value on one line.
  package var line: String { text(margin: nil) }

  /// The value on one line, members in their own order.
  package var lineAsGiven: String { text(margin: nil, isSorted: false) }

  private func text(
    margin: String?, asFoundation: Bool = false, isSorted: Bool = true
  ) -> String {
    let inner = margin.map { $0 + "  " }
    switch self {
    case .null: return "null"
    case .bool(let bool): return bool ? "true" : "false"
    case .number(let digits): return digits
    case .string(let text): return Self.quoted(text, asFoundation: asFoundation)
    case .array(let values):
      let items = values.map {
        $0.text(margin: inner, asFoundation: asFoundation, isSorted: isSorted)
      }
      return Self.list("[", items, "]", margin, asFoundation)
    case .object(let members):
      let listed =
        isSorted
        ? members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) } : members
      let items = listed.map {
        Self.quoted($0.name, asFoundation: asFoundation) + (margin == nil ? ":" : " : ")
          + $0.value.text(margin: inner, asFoundation: asFoundation, isSorted: isSorted)
      }
      return Self.list("{", items, "}", margin, asFoundation)
    }
  }

  private static func list(
    _ open: String, _ items: [String], _ close: String, _ margin: String?, _ asFoundation: Bool
  ) -> String {
    guard let margin, !items.isEmpty else {
      let gap = margin.map { asFoundation ? "\n" + $0 : "" } ?? ""
      return open + items.joined(separator: ",") + gap + close
    }
    let inner = margin + "  "
    return open + inner + items.joined(separator: "," + inner) + margin + close
  }

  /// Returns a text with quotes, and with escapes where JSON needs them.
  package static func quoted(_ text: String, asFoundation: Bool = false) -> String {
    var bytes: [UInt8] = []
    append(text.utf8, to: &bytes, asFoundation: asFoundation)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends a text in UTF-8 with quotes and escapes; leaves no copy if there is room for six bytes
  /// for each.
  package static func append(
    _ text: some Collection<UInt8>, to bytes: inout [UInt8], asFoundation: Bool = false
  ) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text {
      switch Unicode.Scalar(byte) {
      case "\"": bytes += "\\\"".utf8
      case "\\": bytes += "\\\\".utf8
      case "\n": bytes += "\\n".utf8
      case "\r": bytes += "\\r".utf8
      case "\t": bytes += "\\t".utf8
      case "\u{8}" where asFoundation: bytes += "\\b".utf8
      case "\u{C}" where asFoundation: bytes += "\\f".utf8
      case _ where byte < 0x20: bytes += "\\u00\([byte].hexadecimal)".utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
