internal import FoundationEssentials

/// Decodes property list objects: dictionaries, arrays, numbers, text, dates, data and URLs.
struct ObjectDecoder: Decoder {
  let value: Any
  let codingPath: [any CodingKey]

  /// The decoder of JSON data in the objects.
  let json: JSONDecoder

  var userInfo: [CodingUserInfoKey: Any] { json.userInfo }

  init(_ value: Any, at codingPath: [any CodingKey] = [], decoder: JSONDecoder) {
    self.value = value
    self.codingPath = codingPath
    json = decoder
  }

  /// Returns the decoder of a part of the value.
  func nested(_ value: Any, _ key: any CodingKey) -> ObjectDecoder {
    ObjectDecoder(value, at: codingPath + [key], decoder: json)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let fields = value as? [String: Any] else { throw mismatch([String: Any].self) }
    return KeyedDecodingContainer(ObjectFields(decoder: self, fields: fields))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let elements = value as? [Any] else { throw mismatch([Any].self) }
    return ObjectElements(decoder: self, elements: elements)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  /// Decodes the whole value.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let plain = plainValue(type) { return plain }
    guard let data = value as? Data else { return try Value(from: self) }
    do {
      return try Value(from: self)
    } catch {
      // Some libraries store each element of an array as JSON data.
      guard let decoded = try? json.decode(type, from: data) else { throw mismatch(type) }
      return decoded
    }
  }

  /// Returns a value whose type property lists support, without its own decoding.
  private func plainValue<Value>(_ type: Value.Type) -> Value? {
    switch type {
    case is URL.Type: value as? Value ?? (value as? String).flatMap(URL.init(string:)) as? Value
    case is Data.Type:
      value as? Value ?? (value as? String).flatMap { Data(base64Encoded: $0) } as? Value
    case is Date.Type, is UUID.Type: value as? Value
    case is Decimal.Type: PreferenceCast.cast(value)
    default: nil
    }
  }

  func mismatch(_ type: Any.Type) -> DecodingError {
    .typeMismatch(type, context("another type is stored"))
  }

  func context(_ description: String) -> DecodingError.Context {
    DecodingError.Context(codingPath: codingPath, debugDescription: description)
  }

  /// Whether the value stands for `nil`.
  var isNil: Bool { value is any BridgedNull || value as? String == Self.nilText }

  /// What the property list encoder of Foundation writes for `nil`.
  private static let nilText = "$null"
}

extension ObjectDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { isNil }

  private func number<Value: PlainPreferenceValue>(_ type: Value.Type) throws -> Value {
    guard let number = PreferenceCast.cast(value, to: type) else { throw mismatch(type) }
    return number
  }

  func decode(_ type: String.Type) throws -> String {
    guard let text = value as? String else { throw mismatch(type) }
    return text
  }

  func decode(_ type: Bool.Type) throws -> Bool { try number(type) }
  func decode(_ type: Double.Type) throws -> Double { try number(type) }
  func decode(_ type: Float.Type) throws -> Float { try number(type) }
  func decode(_ type: Int.Type) throws -> Int { try number(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try number(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try number(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try number(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try number(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try number(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try number(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try number(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try number(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try number(type) }
}
