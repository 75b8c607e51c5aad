internal import Foundation

// The wrappers without preferences of their own, as in `@Preference(key: "width")`, use the shared
// instance.

extension Preference {
  /// Creates a preference of ``Prephirences/sharedInstance``.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - transformation: How the value is stored; see ``init(preferences:key:transformation:)``.
  public convenience init(
    key: PreferenceKey, transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(
      preferences: Prephirences.sharedInstance, key: key, transformation: transformation)
  }

  /// The name of the transformation.
  public var transformationKey: TransformationKey {
    get { TransformationKey(transformation) }
    set { transformation = newValue }
  }
}

extension PreferenceValue {
  /// Creates a preference of ``Prephirences/sharedInstance`` with a default.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - defaultValue: The value that a read returns if there is none.
  ///   - transformation: How the value is stored; see
  ///     ``Preference/init(preferences:key:transformation:)``.
  public init(
    key: PreferenceKey, default defaultValue: T,
    transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(
      preferences: Prephirences.sharedInstance, key: key, default: defaultValue,
      transformation: transformation)
  }

  /// Creates a preference of ``Prephirences/sharedInstance`` whose default is the initial value of
  /// the property.
  ///
  /// - Parameters:
  ///   - wrappedValue: The value that a read returns if there is none.
  ///   - key: The key.
  ///   - transformation: How the value is stored; see
  ///     ``Preference/init(preferences:key:transformation:)``.
  public init(
    wrappedValue: T, key: PreferenceKey, transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(key: key, default: wrappedValue, transformation: transformation)
  }
}

extension MutablePreference {
  // The first parameter only tells this initializer from the superclass's, which an extension cannot
  // override.

  /// Creates a preference of ``Prephirences/sharedMutableInstance``, or of `UserDefaults.standard` if
  /// that is read-only.
  ///
  /// - Parameters:
  ///   - registry: The registry.
  ///   - key: The key.
  ///   - transformation: How the value is stored; see
  ///     ``Preference/init(preferences:key:transformation:)``.
  public convenience init(
    of registry: Prephirences.Type = Prephirences.self, key: PreferenceKey,
    transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(
      preferences: registry.sharedMutableInstance ?? UserDefaults.standard, key: key,
      transformation: transformation)
  }
}

extension MutablePreferenceValue {
  /// Creates a preference with a default, of ``Prephirences/sharedMutableInstance``, or of
  /// `UserDefaults.standard` if that is read-only.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - defaultValue: The value that a read returns if there is none.
  ///   - transformation: How the value is stored; see
  ///     ``Preference/init(preferences:key:transformation:)``.
  public init(
    key: PreferenceKey, default defaultValue: T,
    transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(
      preferences: Prephirences.sharedMutableInstance ?? UserDefaults.standard, key: key,
      default: defaultValue, transformation: transformation)
  }

  /// Creates a preference whose default is the initial value of the property; see
  /// ``init(key:default:transformation:)``.
  ///
  /// - Parameters:
  ///   - wrappedValue: The value that a read returns if there is none.
  ///   - key: The key.
  ///   - transformation: How the value is stored; see
  ///     ``Preference/init(preferences:key:transformation:)``.
  public init(
    wrappedValue: T, key: PreferenceKey, transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(key: key, default: wrappedValue, transformation: transformation)
  }
}
