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
/// another library or from the command line, are read, too. Errors name the place in a value, but
/// never a part of it.
package enum CodableForm {
  /// Returns the JSON data of a value.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` if the value cannot be
  ///   encoded, for example because a number is not finite.
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
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` if the value cannot be
  ///   encoded.
  package static func encodeObjects<Value: Encodable>(
    _ value: Value, forKey key: PreferenceKey
  ) throws(PreferencesError) -> Any {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    do {
      // In an array, because a property list cannot consist of text or a number alone.
      let data = try encoder.encode([value])
      if let array = try PropertyListReader.read(data).root as? [Any], let form = array.first {
        // Data alone is read as JSON, so a type that is encoded as data becomes JSON.
        return form is Data && Value.self != Data.self
          ? try PreferenceCoders.jsonEncoder.encode(value) : withCastableNumbers(form)
      }
    } catch {
      throw .unencodable(key, Value.self, error)
    }
    throw .unstorableValue(key, Value.self)
  }

  /// Returns the value of JSON data, or of property list objects.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/typeMismatch`` if the stored value
  ///   cannot be decoded as this type.
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

  /// Returns the value of JSON data, or of property list objects; throws `DecodingError`.
  static func decode<Value: Decodable>(
    _ type: Value.Type, from stored: Any, decoder: JSONDecoder
  ) throws -> Value {
    if let data = stored as? Data, Value.self != Data.self {
      return try decoder.decode(type, from: data)
    }
    return try ObjectDecoder(stored, decoder: decoder).decode(type)
  }
}
