#if canImport(ObjectiveC)
public import Foundation
#endif

// Subscripts with a transformation. The overloads differ only in its type, so that `.archive` can
// be written without a type name.
extension PreferencesType {
  /// The value that a closure derives from the stored value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - closure: Receives the stored value, or `nil`.
  public subscript(key: PreferenceKey, closure: (PreferenceObject?) -> Any?) -> Any? {
    closure(object(forKey: key))
  }

  /// The value of a key, stored by a named transformation.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - transformationKey: How the value is stored.
  public subscript(key: PreferenceKey, transformationKey: TransformationKey) -> Any? {
    transformationKey.get(key, from: self)
  }

  /// The value of a key, stored by a transformation.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - transformation: How the value is stored.
  public subscript(
    key: PreferenceKey, transformation: any PreferenceTransformation
  ) -> Any? {
    transformation.get(key, from: self)
  }

  /// The value of a key, stored by a transformer.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - valueTransformer: How the value is stored.
  public subscript(
    key: PreferenceKey, valueTransformer: ValueTransformer
  ) -> PreferenceObject? {
    self[key, .valueTransformer(valueTransformer)]
  }
}

extension MutablePreferencesType {
  /// The value of a key, stored by a named transformation; setting `nil` removes the key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - transformationKey: How the value is stored.
  public subscript(key: PreferenceKey, transformationKey: TransformationKey) -> Any? {
    get { transformationKey.get(key, from: self) }
    nonmutating set { transformationKey.set(key, value: newValue, to: self) }
  }

  /// The value of a key, stored by a transformation; setting `nil` removes the key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - transformation: How the value is stored.
  public subscript(
    key: PreferenceKey, transformation: any PreferenceTransformation
  ) -> Any? {
    get { transformation.get(key, from: self) }
    nonmutating set { transformation.set(key, value: newValue, to: self) }
  }

  /// The value of a key, stored by a reversible transformer; setting `nil` removes the key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - valueTransformer: How the value is stored.
  public subscript(
    key: PreferenceKey, valueTransformer: ValueTransformer
  ) -> PreferenceObject? {
    get { self[key, .valueTransformer(valueTransformer)] }
    nonmutating set { self[key, .valueTransformer(valueTransformer)] = newValue }
  }
}
