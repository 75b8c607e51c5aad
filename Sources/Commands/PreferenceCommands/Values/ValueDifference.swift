internal import Prephirences
internal import PrephirencesSystem

/// What a key has before or after a change.
enum ShownValue {
  case absent
  case value(StoredValue)
  /// A value that is not known, and in one word why.
  case hidden(String)

  static let unknown = ShownValue.hidden("unknown")

  init(_ value: StoredValue?) { self = value.map(ShownValue.value) ?? .absent }

  /// Takes a value as a store returns it.
  init(object: PreferenceObject?) {
    self = object.map { StoredValue($0).map(ShownValue.value) ?? .unknown } ?? .absent
  }

  /// The words for type and value; `nil` if there is no value.
  var words: [String]? {
    switch self {
    case .absent: nil
    case .value(let value): [value.kind.rawValue, value.line]
    case .hidden(let reason): [reason, ""]
    }
  }

  /// Whether both are known, and have the same type and value.
  func isSame(as other: Self) -> Bool {
    guard case .value(let one) = self, case .value(let other) = other else { return false }
    return one.isSame(as: other)
  }

  var json: JSONValue {
    let members: [JSONValue.Member]? =
      switch self {
      case .absent: nil
      case .value(let value):
        [
          .init(name: "type", value: .string(value.kind.rawValue)),
          .init(name: "value", value: value.plainJSON),
        ]
      case .hidden(let reason): [.init(name: "type", value: .string(reason))]
      }
    return members.map(JSONValue.object) ?? .null
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

  init(key: String, old: StoredValue?, new: StoredValue?) {
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
      .init(name: "key", value: .string(key)), .init(name: "old", value: old.json),
      .init(name: "new", value: new.json),
    ])
  }
}
