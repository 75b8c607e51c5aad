internal import FoundationEssentials
internal import Prephirences
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

/// A text that is no value of the form in which it should be.
enum WrittenValueError: Error {
  case otherType(ValueKind)
  case malformed(PreferencesError)
  case null
  case oddPairs
}

extension StoredValue {
  /// Reads a value from the words of a command line.
  ///
  /// An array takes its elements and a dictionary its keys and values, each of which can follow a
  /// type, as `defaults` has it: `-int 1`.
  ///
  /// - Parameters:
  ///   - words: The words; exactly one except for an array and a dictionary.
  ///   - form: The form.
  ///   - local: Returns the moment at which local clocks show what clocks in UTC show at a date.
  /// - Returns: The value.
  /// - Throws: ``WrittenValueError``.
  static func read(
    _ words: [String], as form: WrittenForm, local: (Date) -> Date
  ) throws(WrittenValueError) -> StoredValue {
    switch form {
    case .text(.array): return .array(try elements(words, local))
    case .text(.dict):
      let elements = try elements(words, local)
      guard elements.count.isMultiple(of: 2) else { throw .oddPairs }
      var values: [String: StoredValue] = [:]
      for index in stride(from: 0, to: elements.count, by: 2) {
        values[elements[index].text] = elements[index + 1]
      }
      return .dictionary(values)
    case .text(let kind): return try element(words.first ?? "", kind, local)
    case .json: return try json(words.first ?? "")
    case .propertyList:
      do throws(PreferencesError) {
        return try PropertyListText.value(of: Data((words.first ?? "").utf8))
      } catch {
        throw .malformed(error)
      }
    }
  }

  /// Reads a value from JSON; a value in it that is `null` is left out.
  static func json(_ text: String) throws(WrittenValueError) -> StoredValue {
    var form = JSONForm()
    let value: StoredValue?
    do throws(PreferencesError) {
      value = try form.value(of: try JSONValue(parsing: text), forKey: "the value")
    } catch {
      throw .malformed(error)
    }
    // A list whose elements were dropped in silence would be another one.
    guard let value, form.omitted.isEmpty else { throw .null }
    return value
  }

  private static func elements(
    _ words: [String], _ local: (Date) -> Date
  ) throws(WrittenValueError) -> [StoredValue] {
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
  ) throws(WrittenValueError) -> StoredValue {
    guard let value = StoredValue(text, kind: kind, local: local) else { throw .otherType(kind) }
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
