/// A class that lists the properties that are preferences, so that its objects can be wrapped in
/// ``KVCPreferences`` and ``MutableKVCPreferences``.
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
/// classes; in other classes, only for a property that is the only one of its type. For other
/// properties, use ``namedPreferenceKeyPaths``.
public protocol PreferenceKeyPaths: AnyObject {
  /// The properties; those with a writable key path can be set.
  static var preferenceKeyPaths: [AnyKeyPath] { get }

  /// The properties by their keys, which may differ from the names; empty if all names are derived.
  static var namedPreferenceKeyPaths: [PreferenceKey: AnyKeyPath] { get }
}

extension PreferenceKeyPaths {
  /// No properties other than the named ones.
  public static var preferenceKeyPaths: [AnyKeyPath] { [] }

  /// No properties other than those with derived names.
  public static var namedPreferenceKeyPaths: [PreferenceKey: AnyKeyPath] { [:] }
}
