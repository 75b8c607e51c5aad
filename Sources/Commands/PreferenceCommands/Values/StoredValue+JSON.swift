internal import FoundationEssentials
internal import Prephirences
internal import PrephirencesSystem

// Values as JSON, in one of two forms. JSON has text, truth values, numbers, arrays and objects; a
// whole number and one with a fraction differ by the fraction, which may be `.0`.
//
// - The plain form is for other programs: what JSON lacks is text.
// - The exact form reads back with its types: what JSON lacks is an object with one member, whose
//   name is the type after a dollar sign, such as `{"$date": "2027-01-31T12:00:00Z"}`. A dictionary
//   that looks like one is the member `$dict` of another.
extension StoredValue {
  /// The plain form.
  var plainJSON: JSONValue {
    switch self {
    case .array(let values): .array(values.map(\.plainJSON))
    case .dictionary(let values): Self.object(values.mapValues(\.plainJSON))
    case .data(let data): .string(data.base64EncodedString())
    default: simpleJSON ?? .string(text)
    }
  }

  /// The exact form.
  var exactJSON: JSONValue {
    switch self {
    case .array(let values): .array(values.map(\.exactJSON))
    case .dictionary(let values):
      values.count == 1 && values.keys.allSatisfy { JSONTag(name: $0) != nil }
        ? JSONTag.dict.around(Self.object(values.mapValues(\.exactJSON)))
        : Self.object(values.mapValues(\.exactJSON))
    case .float(let number):
      JSONTag.float.around(number.isFinite ? .number("\(number)") : .string("\(number)"))
    case .double(let number): simpleJSON ?? JSONTag.double.around(.string("\(number)"))
    case .data(let data): JSONTag.data.around(.string(data.base64EncodedString()))
    case .date: JSONTag.date.around(.string(text))
    case .url(let url):
      JSONTag.url.around(
        url.baseURL.map { .array([.string(url.relativeString), .string($0.absoluteString)]) }
          ?? .string(url.relativeString))
    case .uuid: JSONTag.uuid.around(.string(text))
    case .decimal: JSONTag.decimal.around(.string(text))
    case .string, .bool, .integer, .unsigned: simpleJSON ?? .string(text)
    }
  }

  private static func object(_ members: [String: JSONValue]) -> JSONValue {
    .object(members.map { JSONValue.Member(name: $0.key, value: $0.value) })
  }

  /// The value in JSON if that has its type.
  private var simpleJSON: JSONValue? {
    switch self {
    case .string(let text): .string(text)
    case .bool(let bool): .bool(bool)
    case .integer(let number): .number("\(number)")
    case .unsigned(let number): .number("\(number)")
    case .float(let number) where number.isFinite: .number("\(number)")
    case .double(let number) where number.isFinite: .number("\(number)")
    case .decimal(let number) where !number.isNaN: .number(text)
    default: nil
    }
  }
}

/// The types that JSON lacks.
enum JSONTag: String {
  case float, double, data, date, url, uuid, decimal, dict

  /// Takes the tag of a member's name.
  init?(name: String) {
    guard name.hasPrefix("$") else { return nil }
    self.init(rawValue: String(name.dropFirst()))
  }

  /// Returns the object that marks a value with its type.
  func around(_ value: JSONValue) -> JSONValue {
    .object([JSONValue.Member(name: "$" + rawValue, value: value)])
  }
}

extension StoredValue {
  /// Returns whether a value has the same type and the same bits; text is compared by its bytes.
  func isSame(as other: StoredValue) -> Bool {
    exactJSON.line.utf8.elementsEqual(other.exactJSON.line.utf8)
  }
}
