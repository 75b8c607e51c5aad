/// A structure or class whose stored properties are read-only preferences.
///
/// ```swift
/// struct Settings {
///   var color = "red"
///   var age: Int
/// }
///
/// extension Settings: ReflectingPreferences {}
///
/// Settings(age: 33)["color"] as? String   // "red"
/// ```
///
/// Properties of superclasses are included; a property that is `nil` has no value. A path such as
/// `address.city` reads a property of a property. Computed properties are not found.
public protocol ReflectingPreferences: PreferencesType {}

extension ReflectingPreferences {
  /// Returns the value of a property.
  ///
  /// - Parameter key: The name of the property, or a path to it.
  /// - Returns: The value; `nil` if it is `nil` or the property does not exist.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    ReflectedValue(value: self).value(at: key)
  }

  /// Returns the values of all properties that are not `nil`.
  ///
  /// - Returns: The values by the names of the properties.
  public func dictionary() -> PreferencesDictionary { ReflectedValue(value: self).properties }
}
