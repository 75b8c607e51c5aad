extension StoredNode: Encodable {
  enum Key: String, CodingKey {
    case type = "$type"
    case value = "$value"
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .string(let text): try Self.encode(text, to: encoder)
    case .scalar(let value as Bool): try Self.encode(value, to: encoder)
    case .scalar(let value as Int): try Self.encode(value, to: encoder)
    // JSON does not distinguish 1.0 from 1, nor -0.0 from 0.
    case .scalar(let value as Double) where value.isFinite && value.rounded() != value:
      try Self.encode(value, to: encoder)
    case .scalar(let scalar):
      try Self.encode(scalar.storedText, named: type(of: scalar).storedName, to: encoder)
    case .array(let nodes): try Self.encode(nodes, to: encoder)
    case .dictionary(let pairs) where pairs.keys.contains(Key.type.rawValue):
      try Self.encode(pairs, named: Self.dictionaryName, to: encoder)
    case .dictionary(let pairs): try Self.encode(pairs, to: encoder)
    case .codable(let value): try encodeCodable(value, to: encoder)
    case .null, .decoded:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    }
  }

  private func encodeCodable(_ value: any Encodable, to encoder: any Encoder) throws {
    guard let name = StoredType.name(of: type(of: value)) else {
      throw EncodingError.invalidValue(
        value, EncodingError.Context(codingPath: [], debugDescription: ""))
    }
    try Self.encode(value, named: name, to: encoder)
  }

  private static func encode(_ value: some Encodable, to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }

  private static func encode(
    _ value: some Encodable, named name: String, to encoder: any Encoder
  ) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .type)
    try container.encode(value, forKey: .value)
  }
}
