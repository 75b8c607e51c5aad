internal import FoundationEssentials
internal import KeychainCredentials
internal import PreferencesCore

/// A value within a stored array or dictionary, as JSON that keeps its type.
///
/// Strings, truth values, `Int` and fractional `Double` numbers are written as in JSON, and `nil`
/// as `null`. Any other value is an object that names its type: `{"$type": "Data", "$value":
/// "aGk="}`. So is a dictionary that contains the key `$type`.
enum StoredNode {
  case null
  case string(String)
  case scalar(any StoredScalar)
  case array([StoredNode])
  case dictionary([String: StoredNode])
  case codable(any Encodable)

  /// A value whose type was found by its name while reading.
  case decoded(Any)

  static let arrayName = "Array"
  static let dictionaryName = "Dictionary"

  /// The maximum depth that the JSON decoder reads, less the depth of the objects that name types.
  private static let maximumDepth = 200

  /// Converts a value, which may be an optional, to its stored form.
  init(_ value: Any, depth: Int = 0) throws(KeychainError) {
    guard depth < Self.maximumDepth else {
      throw KeychainError(
        .invalidArgument, "arrays and dictionaries lie in each other too deeply to be stored")
    }
    guard let value = unwrapped(value) else {
      self = .null
      return
    }
    // The order matters: some casts succeed between types, such as from a number object to a truth
    // value, so the exact types come first.
    if let scalar = value as? any StoredScalar {
      self = .scalar(scalar)
    } else if let float = StoredFloat(value) {
      self = .scalar(float)
    } else if type(of: value) is AnyClass, value is any BridgedNull {
      self = .null
    } else if type(of: value) is AnyClass, let value = PropertyListForm.value(standingFor: value) {
      self = try StoredNode(value, depth: depth)
    } else if let text = value as? String {
      self = .string(text)
    } else if let array = value as? [Any] {
      self = .array(
        try array.map { element throws(KeychainError) in
          try StoredNode(element, depth: depth + 1)
        })
    } else if let dictionary = value as? [String: Any] {
      var nodes: [String: StoredNode] = [:]
      for (key, value) in dictionary { nodes[key] = try StoredNode(value, depth: depth + 1) }
      self = .dictionary(nodes)
    } else if let value = value as? any Encodable {
      self = .codable(value)
    } else if let value = PropertyListForm.value(standingFor: value) {
      self = try StoredNode(value, depth: depth)
    } else {
      throw .unstorable(type(of: value))
    }
  }

  var value: Any {
    switch self {
    case .null: Any?.none as Any
    case .string(let text): text
    case .scalar(let scalar): scalar.storedValue
    case .array(let nodes): nodes.map(\.value)
    case .dictionary(let pairs): pairs.mapValues(\.value)
    case .codable(let value): value
    case .decoded(let value): value
    }
  }

  /// Whether it contains a value of a type that is known only to be `Codable`.
  var containsCodable: Bool {
    switch self {
    case .codable, .decoded: true
    case .array(let nodes): nodes.contains(where: \.containsCodable)
    case .dictionary(let pairs): pairs.values.contains(where: \.containsCodable)
    case .null, .string, .scalar: false
    }
  }
}

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
    guard let name = TypeName.ofDecodable(type(of: value)) else {
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

/// The JSON of stored values.
enum StoredJSON {
  private static let infinity = "inf"
  private static let negativeInfinity = "-inf"
  private static let notANumber = "nan"

  private static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: infinity, negativeInfinity: negativeInfinity, nan: notANumber)
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      if let text = date.iso8601 {
        try container.encode(text)
      } else {
        try container.encode(date.timeIntervalSinceReferenceDate)
      }
    }
    return encoder
  }()

  private static let decoder: JSONDecoder = {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: infinity, negativeInfinity: negativeInfinity, nan: notANumber)
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      // A number is the seconds since 2001, which is how Foundation writes dates by default.
      if let seconds = try? container.decode(Double.self) {
        return Date(timeIntervalSinceReferenceDate: seconds)
      }
      guard let date = Date(iso8601: try container.decode(String.self)) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "no date")
      }
      return date
    }
    return decoder
  }()

  /// The encoder's errors are not passed on, because they quote values.
  static func encode(_ value: any Encodable) throws(KeychainError) -> Data {
    do {
      return try encoder.encode(value)
    } catch { throw .unstorable(type(of: value)) }
  }

  /// The decoder's errors are not passed on, because they quote values.
  static func decode<Value: Decodable>(
    _ type: Value.Type, from stored: StoredValue
  ) throws(KeychainError) -> Value {
    do {
      return try decoder.decode(type, from: stored.data)
    } catch {
      throw stored.unreadable(as: "\(type)", because: StoredFailure.description(of: error))
    }
  }
}

/// The parts of a decoding error that may be reported: the place, but nothing of the contents.
enum StoredFailure {
  /// Returns why a value could not be decoded, with the field; `nil` if nothing may be reported.
  ///
  /// The error belongs to the decoder, or to the type itself, and may quote the value.
  static func description(of error: any Error) -> String? {
    switch error as? DecodingError {
    case .keyNotFound(let key, let context):
      "there is no field '\(path(context.codingPath + [key]))'"
    case .valueNotFound(_, let context): field(context).map { "the field '\($0)' has no value" }
    case .typeMismatch(let type, let context):
      field(context).map { "the field '\($0)' is no \(type)" }
    case .dataCorrupted(let context):
      field(context).map { "the field '\($0)' has a value that its type does not take" }
        ?? "it is not valid JSON, or not what the type takes"
    default: nil
    }
  }

  private static func field(_ context: DecodingError.Context) -> String? {
    let text = path(context.codingPath)
    return text.isEmpty ? nil : text
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.reduce("") { path, key in
      switch name(of: key) {
      case .field(let name): path.isEmpty ? name : "\(path).\(name)"
      case .element(let index): "\(path)[\(index)]"
      case .wrapper: path
      }
    }
  }

  private enum Name {
    case field(String)
    case element(String)

    /// A key of the stored form, unknown to programs.
    case wrapper
  }

  /// Returns the name of a key for errors.
  ///
  /// The cases of an enumeration are part of the program. Other keys, such as those of a
  /// dictionary, belong to the value, and may be as secret as the rest.
  private static func name(of key: any CodingKey) -> Name {
    if key is StoredNode.Key { return .wrapper }
    let mirror = Mirror(reflecting: key)
    if mirror.displayStyle == .enum, mirror.children.isEmpty { return .field(key.stringValue) }
    // The keys of a dictionary of numbers are numbers, too, but only decoders name positions like
    // this.
    if let place = key.intValue, key.stringValue == "Index \(place)" {
      return .element(String(place))
    }
    return .element("…")
  }
}

extension TypeName {
  /// Returns the name of a `Codable` type in content types; `nil` if it cannot be decoded.
  static func ofDecodable(_ type: Any.Type) -> String? {
    type is any Decodable.Type ? of(type) : nil
  }
}
