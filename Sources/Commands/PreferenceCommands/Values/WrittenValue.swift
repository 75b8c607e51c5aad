internal import FoundationEssentials
internal import PreferencesCore
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The form in which a value is written on a command line.
enum WrittenForm: Equatable {
  case text(ValueKind)
  case json
  case propertyList

  /// Whether a value is written as several words.
  var isCollection: Bool { self == .text(.array) || self == .text(.dict) }

  /// Returns the form of a type's name.
  static func named(_ name: String) -> WrittenForm? {
    switch name {
    case "json": .json
    case "plist": .propertyList
    default: ValueKind.named(name).map(WrittenForm.text)
    }
  }
}

extension StoredValue {
  /// Reads a value from the words of a command line.
  ///
  /// An array takes its elements and a dictionary its keys and values, each of which can follow a
  /// type, as `defaults` has it: `-int 1`.
  static func read(
    _ words: [String], as form: WrittenForm, local: (Date) -> Date
  ) throws -> StoredValue {
    switch form {
    case .text(.array): return .array(try elements(words, local))
    case .text(.dict):
      let elements = try elements(words, local)
      guard elements.count.isMultiple(of: 2) else {
        throw CommandLineError(
          ExitCodes.usage, PreferenceUsageText.pairs, hint: PreferenceUsageText.pairsInJSON)
      }
      var values: [String: StoredValue] = [:]
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
  static func json(_ text: String) throws -> StoredValue {
    var form = JSONForm()
    let value = try wellFormed {
      try form.value(of: try JSONValue(parsing: text), forKey: "the value")
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

  private static func elements(
    _ words: [String], _ local: (Date) -> Date
  ) throws -> [StoredValue] {
    var elements: [StoredValue] = []
    var rest = words[...]
    while let word = rest.popFirst() {
      if word.hasPrefix("-"), let kind = ValueKind.ofDefaults[word], let text = rest.popFirst() {
        elements.append(try element(text, kind, local))
      } else {
        elements.append(.string(word))
      }
    }
    return elements
  }

  private static func element(
    _ text: String, _ kind: ValueKind, _ local: (Date) -> Date
  ) throws -> StoredValue {
    guard let value = StoredValue(text, kind: kind, local: local) else {
      throw CommandLineError.noValue(kind, PreferenceUsageText.example(of: kind))
    }
    return value
  }
}

extension ValueKind {
  /// The types by the options that `defaults` has for them.
  static let ofDefaults: [String: ValueKind] = [
    "-string": .string, "-int": .int, "-integer": .int, "-float": .float, "-bool": .bool,
    "-boolean": .bool, "-data": .data, "-date": .date,
  ]
}
