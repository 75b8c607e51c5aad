/// What a change does to the value of a key.
struct ValueDifference {
  let key: String
  let old: StoredValue?
  let new: StoredValue?

  /// The rows of a diff: `-` with what the key has, `+` with what it gets.
  var rows: [[String]] {
    [("-", old), ("+", new)].compactMap { sign, value in
      value.map { [sign, key, $0.kind.rawValue, $0.line] }
    }
  }

  var json: JSONValue {
    .object([("key", .string(key)), ("old", Self.json(old)), ("new", Self.json(new))])
  }

  private static func json(_ value: StoredValue?) -> JSONValue {
    value.map { .object([("type", .string($0.kind.rawValue)), ("value", $0.plainJSON)]) } ?? .null
  }
}
