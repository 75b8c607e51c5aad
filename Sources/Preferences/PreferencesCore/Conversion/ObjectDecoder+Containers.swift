internal import FoundationEssentials

/// The fields of a dictionary that is decoded.
struct ObjectFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: ObjectDecoder
  let fields: [String: Any]

  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { fields.keys.compactMap(Key.init(stringValue:)) }

  func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try field(key).isNil }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try field(key).decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try field(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try field(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try field(ObjectKey("super")) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try field(key) }

  private func field(_ key: any CodingKey) throws -> ObjectDecoder {
    guard let value = fields[key.stringValue] else {
      throw DecodingError.keyNotFound(key, decoder.context("it is missing"))
    }
    return decoder.nested(value, key)
  }
}

/// The elements of an array that is decoded.
struct ObjectElements: UnkeyedDecodingContainer {
  let decoder: ObjectDecoder
  let elements: [Any]
  private(set) var currentIndex = 0

  init(decoder: ObjectDecoder, elements: [Any]) {
    self.decoder = decoder
    self.elements = elements
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }

  mutating func decodeNil() throws -> Bool {
    guard try element().isNil else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try next { try $0.decode(type) }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try next { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try next { $0 } }

  /// Goes to the next element only after a success, as the containers of Foundation do.
  private mutating func next<Result>(_ body: (ObjectDecoder) throws -> Result) throws -> Result {
    let result = try body(element())
    currentIndex += 1
    return result
  }

  private func element() throws -> ObjectDecoder {
    let key = ObjectKey(currentIndex)
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(Any.self, decoder.nested([], key).context("it is missing"))
    }
    return decoder.nested(elements[currentIndex], key)
  }
}

/// A key of a container that has no type for its keys.
private struct ObjectKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ name: String) {
    stringValue = name
    intValue = nil
  }

  init(_ index: Int) {
    stringValue = String(index)
    intValue = index
  }

  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { self.init(intValue) }
}
