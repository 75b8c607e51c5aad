internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import Prephirences

extension StoredValue {
  /// Converts a value to its stored form.
  ///
  /// - Parameter value: The value, not an optional.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if the value has no
  ///   stored form.
  init(encoding value: Any) throws(KeychainError) {
    if let data = value as? Data {
      try self.init(StoredMediaType.data, data)
      return
    }
    let node = try StoredNode(value)
    // Programs that have the type under another name can read JSON of the whole type.
    if node.containsCodable, let value = value as? any Encodable {
      let type = StoredType.name(of: Swift.type(of: value))
      try self.init(StoredMediaType.json(type: type), StoredJSON.encode(value))
      return
    }
    switch node {
    case .string(let text):
      try self.init(StoredMediaType.text(), Data(text.utf8))
    case .scalar(let scalar):
      let type = Swift.type(of: scalar).storedName
      try self.init(StoredMediaType.text(type: type), Data(scalar.storedText.utf8))
    case .array:
      try self.init(StoredMediaType.json(type: StoredNode.arrayName), StoredJSON.encode(node))
    case .dictionary:
      try self.init(StoredMediaType.json(type: StoredNode.dictionaryName), StoredJSON.encode(node))
    case .null, .codable, .decoded: throw .unstorable(Swift.type(of: value))
    }
  }

  private init(_ contentType: String, _ data: Data) throws(KeychainError) {
    let secret = try translated(secrets: SecretBytes(copying: data.span.bytes))
    self.init(contentType: contentType, secret: SharedSecret(secret))
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
      if let text = StoredDate.text(of: date) {
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
      guard let date = StoredDate.date(of: try container.decode(String.self)) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "no date")
      }
      return date
    }
    return decoder
  }()

  /// Errors of the encoder are not passed on, because they quote values.
  static func encode(_ value: any Encodable) throws(KeychainError) -> Data {
    do {
      return try encoder.encode(value)
    } catch {
      throw .unstorable(type(of: value))
    }
  }

  /// Errors of the decoder are not passed on, because they quote values.
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
