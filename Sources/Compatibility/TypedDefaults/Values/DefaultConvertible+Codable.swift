internal import Prephirences

extension DefaultConvertible where Self: Codable {
  /// Creates the value from a property list object or from JSON data.
  public init?(_ object: Any) {
    guard let value = try? CodableForm.decode(Self.self, from: object, forKey: Self.key) else {
      return nil
    }
    self = value
  }

  /// Returns the value as a property list object: an array, a dictionary or a single value.
  public func serialize() -> Any {
    do throws(PreferencesError) {
      return try CodableForm.encodeObjects(self, forKey: Self.key)
    } catch {
      return Unserializable(error: error)
    }
  }
}

/// Takes the place of a value that could not be encoded, until the store reports it.
struct Unserializable {
  let error: PreferencesError
}
