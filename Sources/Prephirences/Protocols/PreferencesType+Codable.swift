public import Foundation

extension PreferencesType {
  /// Decodes the value of a key, which is JSON data.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - key: The key.
  ///   - decoder: Decodes the data.
  /// - Returns: The decoded value, or `nil` if the key has no data.
  /// - Throws: `DecodingError` if the data is no such value.
  public func decodable<T: Decodable>(
    _ type: T.Type, forKey key: PreferenceKey, decoder: JSONDecoder = Prephirences.jsonDecoder
  ) throws -> T? {
    try data(forKey: key).map { try decoder.decode(type, from: $0) }
  }
}

extension MutablePreferencesType {
  /// Sets the value of a key to the JSON data of a value.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes.
  ///   - key: The key.
  ///   - encoder: Encodes the value.
  /// - Throws: `EncodingError` if the value cannot be encoded; then nothing is changed.
  public func set<T: Encodable>(
    encodable value: T?, forKey key: PreferenceKey,
    encoder: JSONEncoder = Prephirences.jsonEncoder
  ) throws {
    self[key] = try value.map(encoder.encode)
  }
}
