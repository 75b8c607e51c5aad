/// How values are stored by default.
package enum DefaultTransformation {
  /// Returns the transformation for a type of values.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - encodes: Whether `Codable` values are stored as data, or passed to a store that encodes
  ///     them itself.
  /// - Returns: The transformation.
  package static func of<T>(_ type: T.Type, encodes: Bool = true) -> any PreferenceTransformation {
    if T.self is any PlainPreferenceValue.Type { return PlainTransformation() }
    if let type = T.self as? any RawRepresentable.Type, let transformation = raw(type) {
      return transformation
    }
    if let type = T.self as? any Codable.Type { return codable(type, encodes: encodes) }
    return PlainTransformation()
  }

  private static func raw<Value: RawRepresentable>(
    _ type: Value.Type
  ) -> (any PreferenceTransformation)? {
    guard Value.RawValue.self is any PlainPreferenceValue.Type else { return nil }
    return Value.preferenceTransformation
  }

  private static func codable<Value: Codable>(
    _ type: Value.Type, encodes: Bool
  ) -> any PreferenceTransformation {
    CodableTransformation<Value>(encodes: encodes)
  }
}
