internal import FoundationEssentials

/// Stores values as the JSON data of their encoding.
package struct CodableTransformation<Value: Codable>: PreferenceTransformation {
  /// Whether values are stored as data, or unchanged for a store that encodes them itself.
  private let encodes: Bool

  package init(encodes: Bool = true) { self.encodes = encodes }

  package func reverseTransformedValue(_ value: PreferenceObject?) -> Any? {
    if let value: Value = PreferenceCast.cast(value) { return value }
    guard let value = unwrapped(value) else { return nil }
    return try? CodableForm.decode(Value.self, from: value, decoder: PreferenceCoders.jsonDecoder)
  }

  package func transformedValue(_ value: Any?) -> PreferenceObject? {
    guard encodes, let value = value as? Value else { return value }
    return try? PreferenceCoders.jsonEncoder.encode(value)
  }

  package func set<T>(_ key: PreferenceKey, value: T?, to preferences: any MutablePreferencesType) {
    guard let value = unwrapped(value) else { return preferences.removeObject(forKey: key) }
    // A value that is of another type or cannot be encoded must not remove the stored one.
    guard let value = value as? Value else {
      return preferences.didRefuse(.untransformable(key, type(of: value)), forKey: key)
    }
    do throws(PreferencesError) {
      let stored: Any = encodes ? try CodableForm.encode(value, forKey: key) : value
      preferences.set(stored as PreferenceObject?, forKey: key)
    } catch {
      preferences.didRefuse(error, forKey: key)
    }
  }
}
