public import Foundation

extension Prephirences {
  /// Returns the enumeration value of a raw value.
  ///
  /// - Parameter rawValue: The raw value, or `nil`.
  /// - Returns: The value; `nil` if no value has this raw value.
  public static func unraw<T: RawRepresentable>(_ rawValue: T.RawValue?) -> T? {
    rawValue.flatMap(T.init(rawValue:))
  }

  /// Returns the raw value of a value.
  ///
  /// - Parameter value: The value, or `nil`.
  /// - Returns: The raw value; `nil` if there is no value.
  public static func raw<T: RawRepresentable>(_ value: T?) -> T.RawValue? { value?.rawValue }

  /// Returns the object whose archive is the value of a key.
  ///
  /// - Parameters:
  ///   - preferences: The preferences that have the key.
  ///   - key: The key.
  /// - Returns: The object, or `nil` if the value is not an archive.
  public static func unarchive(
    fromPreferences preferences: any PreferencesType, forKey key: PreferenceKey
  ) -> PreferenceObject? {
    preferences.unarchiveObject(forKey: key)
  }

  /// Sets the value of a key to the archive of an object.
  ///
  /// - Parameters:
  ///   - object: The object; `nil` removes the key, and an object that cannot be archived changes
  ///     nothing.
  ///   - preferences: The preferences that have the key.
  ///   - key: The key.
  public static func archive(
    object: PreferenceObject?, intoPreferences preferences: any MutablePreferencesType,
    forKey key: PreferenceKey
  ) {
    preferences.set(objectToArchive: object, forKey: key)
  }

  /// Returns the object of an archive.
  ///
  /// - Parameter data: The archive.
  /// - Returns: The object, or `nil` if the data is not an archive.
  public static func unarchive(_ data: Data) -> PreferenceObject? {
    PreferenceArchive.unarchive(data)
  }

  /// Returns the archive of an object.
  ///
  /// - Parameter object: The object.
  /// - Returns: The archive; empty data if the object cannot be archived.
  public static func archive(_ object: PreferenceObject) -> Data {
    PreferenceArchive.archive(object) ?? Data()
  }
}
