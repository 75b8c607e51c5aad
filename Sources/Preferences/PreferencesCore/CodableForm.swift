public import FoundationEssentials
internal import PrephirencesSystem

/// The coders of `Codable` values that are stored as JSON data.
public enum PreferenceCoders {
  private static let coders = PosixMutex((decoder: JSONDecoder(), encoder: JSONEncoder()))

  /// The decoder; set it before other threads read preferences.
  public static var jsonDecoder: JSONDecoder {
    get { coders.withLock(\.decoder) }
    set { coders.withLock { $0.decoder = newValue } }
  }

  /// The encoder; set it before other threads change preferences.
  public static var jsonEncoder: JSONEncoder {
    get { coders.withLock(\.encoder) }
    set { coders.withLock { $0.encoder = newValue } }
  }
}

/// Converts `Codable` values to their stored form and back.
///
/// They are stored as JSON data. Values that were stored as property list objects, for example by
/// another library or from the command line, are also read. Errors name a place in a value, but no
/// part of it.
package enum CodableForm {
  /// Returns the JSON data of a value.
  package static func encode<Value: Encodable>(
    _ value: Value, forKey key: PreferenceKey, encoder: JSONEncoder = PreferenceCoders.jsonEncoder
  ) throws(PreferencesError) -> Data {
    do {
      return try encoder.encode(value)
    } catch {
      throw .unencodable(key, Value.self, error)
    }
  }

  /// Returns a value as property list objects: dictionaries, arrays, numbers, text, dates and data.
  ///
  /// Data alone is the JSON of the value, unless the value is `Data`.
  package static func encodeObjects<Value: Encodable>(
    _ value: Value, forKey key: PreferenceKey
  ) throws(PreferencesError) -> Any {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    do {
      // In an array, because a property list cannot consist of text or a number alone.
      let data = try encoder.encode([value])
      if case .array(let array) = try PropertyListReader.read(data).root, let form = array.first {
        // Data alone is read as JSON, so a type that is encoded as data becomes JSON.
        if case .data = form, Value.self != Data.self {
          return try PreferenceCoders.jsonEncoder.encode(value)
        }
        return form.object(numbers: NumberBoxing.boxed)
      }
    } catch {
      throw .unencodable(key, Value.self, error)
    }
    throw .unstorableValue(key, Value.self)
  }

  /// Returns the value of JSON data or property list objects.
  package static func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, from stored: Any, forKey key: PreferenceKey,
    decoder: JSONDecoder = PreferenceCoders.jsonDecoder
  ) throws(PreferencesError) -> Value {
    do {
      return try decode(type, from: stored, decoder: decoder)
    } catch {
      throw .undecodable(key, type, error)
    }
  }

  /// Returns the value of JSON data or property list objects; throws `DecodingError`.
  static func decode<Value: Decodable>(
    _ type: Value.Type, from stored: Any, decoder: JSONDecoder
  ) throws -> Value {
    if let data = stored as? Data, Value.self != Data.self {
      return try decoder.decode(type, from: data)
    }
    return try ObjectDecoder(stored, decoder: decoder).decode(type)
  }
}

/// The mangled type names that are stored with values.
package enum TypeName {
  /// Returns the name of a type, or `nil` if it is private, and so cannot be found by name.
  package static func of(_ type: Any.Type) -> String? {
    guard let name = _mangledTypeName(type), isPlain(name) else { return nil }
    return name
  }

  /// Returns the type with a name, or `nil` if this program has no such decodable type.
  package static func decodableType(named name: String) -> (any Decodable.Type)? {
    guard isPlain(name) else { return nil }
    return _typeByName(name) as? any Decodable.Type
  }

  /// Whether a name, which may come from another program, is short and has no bytes that the
  /// runtime would read as an address.
  private static func isPlain(_ name: String) -> Bool {
    (1...1024).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}

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

  /// Returns a value of a type that property lists support, without decoding.
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

  /// Whether the value represents `nil`.
  var isNil: Bool { value is any BridgedNull || value as? String == Self.nilText }

  /// Foundation's property list encoder writes this for `nil`.
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

  /// Advances only after success, as Foundation's containers do.
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
