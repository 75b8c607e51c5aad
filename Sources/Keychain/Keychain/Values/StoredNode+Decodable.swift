internal import Prephirences

extension StoredNode: Decodable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let value = try? container.decode(Bool.self) {
      self = .scalar(value)
    } else if let value = try? container.decode(Int.self) {
      self = .scalar(value)
    } else if let value = try? container.decode(Double.self) {
      self = .scalar(value)
    } else if let container = try? decoder.container(keyedBy: Key.self) {
      self = try Self.decodeObject(container, from: decoder)
    } else {
      self = .array(try container.decode([StoredNode].self))
    }
  }

  private static func decodeObject(
    _ container: KeyedDecodingContainer<Key>, from decoder: any Decoder
  ) throws -> StoredNode {
    guard container.contains(.type) else {
      return .dictionary(try decoder.singleValueContainer().decode([String: StoredNode].self))
    }
    let name = try container.decode(String.self, forKey: .type)
    if name == dictionaryName {
      return .dictionary(try container.decode([String: StoredNode].self, forKey: .value))
    }
    if let scalarType = StoredScalars.byName[name] {
      let text = try container.decode(String.self, forKey: .value)
      if let scalar = scalarType.init(storedText: text) { return .scalar(scalar) }
    } else if let type = TypeName.decodableType(named: name) {
      return .decoded(try container.decode(type, forKey: .value))
    }
    throw DecodingError.dataCorruptedError(
      forKey: .type, in: container, debugDescription: "the type is unknown")
  }
}
