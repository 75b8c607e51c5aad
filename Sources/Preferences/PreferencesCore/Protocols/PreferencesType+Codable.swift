public import FoundationEssentials

extension PreferencesType {
  /// Decodes the JSON data of a key, or the property list objects that another program has stored.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - key: The key.
  ///   - decoder: The decoder of the data.
  /// - Returns: The decoded value, or `nil` if the key has no value.
  /// - Throws: `DecodingError` if the value cannot be decoded as this type.
  public func decodable<T: Decodable>(
    _ type: T.Type, forKey key: PreferenceKey, decoder: JSONDecoder = PreferenceCoders.jsonDecoder
  ) throws -> T? {
    guard let stored = data(forKey: key) ?? object(forKey: key) else { return nil }
    return try CodableForm.decode(type, from: stored, decoder: decoder)
  }
}

extension MutablePreferencesType {
  /// Sets the value of a key to the JSON data of a value.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  ///   - encoder: The encoder of the value.
  /// - Throws: `EncodingError` if the value cannot be encoded; nothing is changed.
  public func set<T: Encodable>(
    encodable value: T?, forKey key: PreferenceKey,
    encoder: JSONEncoder = PreferenceCoders.jsonEncoder
  ) throws {
    self[key] = try value.map(encoder.encode)
  }
}
