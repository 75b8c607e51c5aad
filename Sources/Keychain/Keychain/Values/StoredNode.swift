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
  case scalar(Any, name: String, text: String)
  case array([StoredNode])
  case dictionary([String: StoredNode])
  case codable(any Encodable)

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
    let type = type(of: value)
    // The order matters: some casts succeed between types, such as from a number object to a truth
    // value, so the exact types come first.
    if let form = ScalarForm.of(type), let text = form.text(value) {
      self = .scalar(value, name: form.name, text: text)
    } else if type == AnyHashable.self, let base = (value as? AnyHashable)?.base,
      ScalarForm.of(Swift.type(of: base)) != nil
    {
      self = try StoredNode(base, depth: depth)
    } else if type is AnyClass, value is any BridgedNull {
      self = .null
    } else if type is AnyClass, let value = PropertyListForm.value(standingFor: value) {
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
    } else if let text = ScalarForm.cgFloat.text(value) {
      self = .scalar(value, name: ScalarForm.cgFloat.name, text: text)
    } else if let value = value as? any Encodable {
      self = .codable(value)
    } else if let value = PropertyListForm.value(standingFor: value) {
      self = try StoredNode(value, depth: depth)
    } else {
      throw .unstorable(type)
    }
  }

  /// Whether it contains a value of a type that is known only to be `Codable`.
  var containsCodable: Bool {
    switch self {
    case .codable: true
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
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .string(let text): try text.encode(to: encoder)
    case .scalar(let value as Bool, _, _): try value.encode(to: encoder)
    case .scalar(let value as Int, _, _): try value.encode(to: encoder)
    // JSON does not distinguish 1.0 from 1, nor -0.0 from 0.
    case .scalar(let value as Double, _, _) where value.isFinite && value.rounded() != value:
      try value.encode(to: encoder)
    case .scalar(_, let name, let text): try Self.encode(text, named: name, to: encoder)
    case .array(let nodes): try nodes.encode(to: encoder)
    case .dictionary(let pairs) where pairs.keys.contains(Key.type.rawValue):
      try Self.encode(pairs, named: Self.dictionaryName, to: encoder)
    case .dictionary(let pairs): try pairs.encode(to: encoder)
    case .codable(let value):
      guard let name = TypeName.ofDecodable(type(of: value)) else {
        throw EncodingError.invalidValue(
          value, EncodingError.Context(codingPath: [], debugDescription: ""))
      }
      try Self.encode(value, named: name, to: encoder)
    }
  }

  private static func encode(
    _ value: some Encodable, named name: String, to encoder: any Encoder
  ) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .type)
    try container.encode(value, forKey: .value)
  }
}

/// A value as it is read from the JSON of a ``StoredNode``.
struct ReadNode: Decodable {
  let value: Any

  /// The types that JSON has.
  private static let plainTypes: [any (Decodable & Sendable).Type] = [
    String.self, Bool.self, Int.self, Double.self,
  ]

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      value = Any?.none as Any
    } else if let plain = Self.plainTypes.lazy.compactMap({ try? container.decode($0) }).first {
      value = plain
    } else if let container = try? decoder.container(keyedBy: StoredNode.Key.self) {
      value = try Self.object(container, from: decoder)
    } else {
      value = try container.decode([ReadNode].self).map(\.value)
    }
  }

  private static func object(
    _ container: KeyedDecodingContainer<StoredNode.Key>, from decoder: any Decoder
  ) throws -> Any {
    guard container.contains(.type) else {
      return try decoder.singleValueContainer().decode([String: ReadNode].self)
        .mapValues(\.value)
    }
    let name = try container.decode(String.self, forKey: .type)
    if name == StoredNode.dictionaryName {
      return try container.decode([String: ReadNode].self, forKey: .value).mapValues(\.value)
    }
    if let form = ScalarForm.byName[name] {
      let text = try container.decode(String.self, forKey: .value)
      if let value = form.value(text) { return value }
    } else if let type = TypeName.decodableType(named: name) {
      return try container.decode(type, forKey: .value)
    }
    throw DecodingError.dataCorruptedError(
      forKey: .type, in: container, debugDescription: "the type is unknown")
  }
}

/// The JSON of stored values.
enum StoredJSON {
  private static let encoder: JSONEncoder = {
    let encoder = JSONEncoder.writingEveryNumber
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
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
    let decoder = JSONDecoder.readingEveryNumber
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
    _ type: Value.Type, named name: String = "\(Value.self)", from stored: TypedSecret
  ) throws(KeychainError) -> Value {
    do {
      return try decoder.decode(type, from: stored.data)
    } catch {
      throw stored.unreadable(as: name, because: StoredFailure.description(of: error))
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
