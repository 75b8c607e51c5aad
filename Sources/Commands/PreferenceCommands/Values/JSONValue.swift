/// A value of JSON; numbers keep the digits that they are written with.
indirect enum JSONValue: Equatable {
  case null
  case bool(Bool)
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// A member of an object.
  struct Member: Equatable {
    let name: String
    let value: JSONValue
  }
}

extension JSONValue {
  /// The type in a sentence.
  var phrase: String {
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

// The text of a value.
extension JSONValue {
  /// The value on lines of its own, members in the order of their names' bytes, without a newline at
  /// the end.
  var lines: String { text(margin: "\n") }

  /// The value on one line.
  var line: String { text(margin: nil) }

  private func text(margin: String?) -> String {
    switch self {
    case .null: "null"
    case .bool(let bool): bool ? "true" : "false"
    case .number(let digits): digits
    case .string(let text): Self.quoted(text)
    case .array(let values):
      Self.list("[", values.map { $0.text(margin: margin.map { $0 + "  " }) }, "]", margin)
    case .object(let members):
      Self.list(
        "{",
        members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }.map {
          Self.quoted($0.name) + (margin == nil ? ":" : " : ")
            + $0.value.text(margin: margin.map { $0 + "  " })
        }, "}", margin)
    }
  }

  private static func list(
    _ open: String, _ items: [String], _ close: String, _ margin: String?
  ) -> String {
    guard let margin, !items.isEmpty else { return open + items.joined(separator: ",") + close }
    let inner = margin + "  "
    return open + inner + items.joined(separator: "," + inner) + margin + close
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
