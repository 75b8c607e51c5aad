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

  /// Returns the form of a type's name.
  static func named(_ name: String) -> WrittenForm? {
    switch name {
    case "json": .json
    case "plist": .propertyList
    default: ValueType.named(name).map(WrittenForm.text)
    }
  }
}

extension PreferenceValue {
  /// Reads a value from the words of a command line.
  ///
  /// An array takes its elements and a dictionary its keys and values, each of which can follow a
  /// type, as `defaults` has it: `-int 1`.
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

  /// Reads a value from JSON; a value in it that is `null` is left out.
  static func json(_ text: String) throws -> PreferenceValue {
    var form = JSONForm()
    let value = try wellFormed {
      guard !text.utf8.starts(with: FileFormat.byteOrderMark) else {
        throw PreferencesError.markedJSON
      }
      return try form.value(of: try JSONValue(parsing: text), forKey: "the value")
    }
    // A list whose elements were dropped in silence would be another one.
    guard let value, form.omitted.isEmpty else { throw CommandLineError.nullValue }
    return value
  }

  /// Reports text that cannot be read as wrong use of the command.
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
  /// The types by the options that `defaults` has for them.
  static let ofDefaults: [String: ValueType] = [
    "-string": .string, "-int": .int, "-integer": .int, "-float": .float, "-bool": .bool,
    "-boolean": .bool, "-data": .data, "-date": .date,
  ]
}

/// What a key has before or after a change.
enum ShownValue {
  case absent
  case value(PreferenceValue)
  /// A value that is not known, and in one word why.
  case hidden(String)

  static let unknown = ShownValue.hidden("unknown")

  init(_ value: PreferenceValue?) { self = value.map { .value($0.withOneNaN) } ?? .absent }

  /// The words for type and value; `nil` if there is no value.
  var words: [String]? {
    switch self {
    case .absent: nil
    case .value(let value): [value.type.rawValue, value.line]
    case .hidden(let reason): [reason, ""]
    }
  }

  /// Whether both are known, and have the same type and value.
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

  /// The change that takes this one back.
  var reverted: Self { Self(key: key, old: new, new: old) }

  /// The rows of a diff: `-` with what the key has, `+` with what it gets.
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
