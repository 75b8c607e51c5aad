/// Pairs of names and values as a JSON object, in which names may differ by bytes alone.
package struct JSONObject<Value: Encodable>: Encodable {
  private let pairs: [(name: String, value: Value)]

  /// Creates an object; a name that is given twice, byte for byte, occurs twice.
  package init(_ pairs: [(name: String, value: Value)]) {
    self.pairs = pairs
  }

  /// Encodes each pair under its name.
  ///
  /// The encoder would treat names that Swift considers equal, although their bytes differ, as one
  /// key. All but the first of them get a mark at the end, which ``JSONText`` removes again.
  package func encode(to encoder: any Encoder) throws {
    let mark = JSONText.mark.flatMap { encoder.userInfo[$0] as? String } ?? ""
    var container = encoder.container(keyedBy: Name.self)
    var seen: [String: Int] = [:]
    for (name, value) in pairs {
      let count = seen[name, default: 0]
      seen[name] = count + 1
      let marks = String(repeating: mark, count: count)
      try container.encode(value, forKey: Name(stringValue: name + marks))
    }
  }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
