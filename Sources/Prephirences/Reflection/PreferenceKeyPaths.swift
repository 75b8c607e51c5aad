/// A class that lists which of its properties are preferences, so that an object of it can be
/// wrapped in ``KVCPreferences`` and ``MutableKVCPreferences``.
///
/// ```swift
/// extension Person: PreferenceKeyPaths {
///   static var preferenceKeyPaths: [AnyKeyPath] { [\Person.color, \Person.age] }
/// }
///
/// let preferences = MutableKVCPreferences(person)
/// ```
///
/// The keys are the names of the properties. They can be derived for stored properties of final
/// classes, and of others where only one property has the type; where they cannot, give
/// ``namedPreferenceKeyPaths``.
public protocol PreferenceKeyPaths: AnyObject {
  /// The properties; those with a writable key path can be set.
  static var preferenceKeyPaths: [AnyKeyPath] { get }

  /// The properties by their keys, which need not be the names; empty if the names are to be derived.
  static var namedPreferenceKeyPaths: [PreferenceKey: AnyKeyPath] { get }
}

extension PreferenceKeyPaths {
  /// No properties beside the named ones.
  public static var preferenceKeyPaths: [AnyKeyPath] { [] }

  /// No properties beside those whose names are derived.
  public static var namedPreferenceKeyPaths: [PreferenceKey: AnyKeyPath] { [:] }
}
