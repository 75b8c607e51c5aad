internal import FoundationEssentials
internal import PreferencesCore
internal import PrephirencesCommandLine
internal import PrephirencesSystem

enum WrittenForm: Equatable {
  case text(ValueType)
  case json
  case propertyList

  /// Whether a value is written as several words.
  var isCollection: Bool { self == .text(.array) || self == .text(.dict) }

  static func named(_ name: String) -> WrittenForm? {
    switch name {
    case "json": .json
    case "plist": .propertyList
    default: ValueType.named(name).map(WrittenForm.text)
    }
  }
}

extension PreferenceValue {
  /// Parses a value from the words of a command line.
  ///
  /// An array has its elements, and a dictionary its keys and values. A type can precede each, as
  /// in `defaults`: `-int 1`.
  static func read(
    _ words: [String], as form: WrittenForm, local: (Date) -> Date
  ) throws -> PreferenceValue {
    switch form {
    case .text(.array): return .array(try elements(words, local))
    case .text(.dict):
      let elements = try elements(words, local)
      guard elements.count.isMultiple(of: 2) else {
        throw CommandLineError(
          ExitCodes.usage, PreferenceUsageText.pairs, hint: PreferenceUsageText.pairsInJSON)
      }
      var values: [String: PreferenceValue] = [:]
      for index in stride(from: 0, to: elements.count, by: 2) {
        values[elements[index].text] = elements[index + 1]
      }
      return .dictionary(values)
    case .text(let kind): return try element(words.first ?? "", kind, local)
    case .json: return try json(words.first ?? "")
    case .propertyList:
      return try wellFormed { try PropertyListText.value(of: Data((words.first ?? "").utf8)) }
    }
  }

  /// Parses a value from JSON; a `null` in it is left out.
  static func json(_ text: String) throws -> PreferenceValue {
    var form = JSONForm()
    let value = try wellFormed {
      guard !text.utf8.starts(with: FileFormat.byteOrderMark) else {
        throw PreferencesError.markedJSON
      }
      return try form.value(of: try JSONValue(parsing: text), forKey: "the value")
    }
    // Silently dropping elements would make another list.
    guard let value, form.omitted.isEmpty else { throw CommandLineError.nullValue }
    return value
  }

  /// Reports unreadable text as wrong use of the command.
  private static func wellFormed<Value>(_ read: () throws -> Value) throws -> Value {
    do {
      return try read()
    } catch let error as PreferencesError {
      throw CommandLineError(ExitCodes.usage, "the value cannot be read: \(error.message)")
    }
  }

  private static func elements(_ words: [String], _ local: (Date) -> Date) throws
    -> [PreferenceValue]
  {
    var elements: [PreferenceValue] = []
    var rest = words[...]
    while let word = rest.popFirst() {
      if word.hasPrefix("-"), let kind = ValueType.ofDefaults[word], let text = rest.popFirst() {
        elements.append(try element(text, kind, local))
      } else {
        elements.append(.string(word))
      }
    }
    return elements
  }

  private static func element(
    _ text: String, _ kind: ValueType, _ local: (Date) -> Date
  ) throws -> PreferenceValue {
    guard let value = PreferenceValue(text, as: kind, local: local) else {
      throw CommandLineError.noValue(kind, PreferenceUsageText.example(of: kind))
    }
    return value
  }
}

extension ValueType {
  /// The types by their options in `defaults`.
  static let ofDefaults: [String: ValueType] = [
    "-string": .string, "-int": .int, "-integer": .int, "-float": .float, "-bool": .bool,
    "-boolean": .bool, "-data": .data, "-date": .date,
  ]
}

/// The value of a key before or after a change.
enum ShownValue {
  case absent
  case value(PreferenceValue)
  /// An unknown value, with one word why.
  case hidden(String)

  static let unknown = ShownValue.hidden("unknown")

  init(_ value: PreferenceValue?) { self = value.map { .value($0.withOneNaN) } ?? .absent }

  /// The words for type and value, or `nil` if there is no value.
  var words: [String]? {
    switch self {
    case .absent: nil
    case .value(let value): [value.type.rawValue, value.line]
    case .hidden(let reason): [reason, ""]
    }
  }

  /// Whether both are known, with the same type and value.
  func isSame(as other: Self) -> Bool {
    guard case .value(let one) = self, case .value(let other) = other else { return false }
    return one == other
  }

  var json: JSONValue {
    switch self {
    case .absent: .null
    case .value(let value):
      .object([("type", .string(value.type.rawValue)), ("value", value.plainJSON)])
    case .hidden(let reason): .object([("type", .string(reason))])
    }
  }
}

/// What a change does to the value of a key.
struct ValueDifference {
  /// How differences are printed.
  enum Form {
    case rows, json
  }

  let key: String
  let old: ShownValue
  let new: ShownValue

  init(key: String, old: ShownValue, new: ShownValue) {
    self.key = key
    self.old = old
    self.new = new
  }

  init(key: String, old: PreferenceValue?, new: PreferenceValue?) {
    self.init(key: key, old: ShownValue(old), new: ShownValue(new))
  }

  /// The change that reverts this one.
  var reverted: Self { Self(key: key, old: new, new: old) }

  /// The rows of a diff: `-` with the old value, `+` with the new one.
  var rows: [[String]] {
    [("-", old), ("+", new)].compactMap { sign, value in
      value.words.map { [sign, key] + $0 }
    }
  }

  /// The words above the rows.
  static let header = ["", "KEY", "TYPE", "VALUE"]

  var json: JSONValue {
    .object([
      ("key", .string(key)), ("old", old.json), ("new", new.json),
    ])
  }
}
