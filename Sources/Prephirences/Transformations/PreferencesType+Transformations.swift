#if canImport(ObjectiveC)
public import Foundation
#endif

// Subscripts that go through a transformation. Those of one key or of several transformations are
// the same but for the type, so that `.archive` needs no more than its dot.
extension PreferencesType {
  /// The value that a closure makes of what is stored for a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - closure: Is given what is stored, or `nil`.
  public subscript(key: PreferenceKey, closure: (PreferenceObject?) -> Any?) -> Any? {
    closure(object(forKey: key))
  }

  /// The value of a key, stored by a transformation that has a name.
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
  ///   - valueTransformer: What values become when they are stored.
  public subscript(
    key: PreferenceKey, valueTransformer: ValueTransformer
  ) -> PreferenceObject? {
    self[key, .valueTransformer(valueTransformer)]
  }
}

extension MutablePreferencesType {
  /// The value of a key, stored by a transformation that has a name; setting `nil` removes.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - transformationKey: How the value is stored.
  public subscript(key: PreferenceKey, transformationKey: TransformationKey) -> Any? {
    get { transformationKey.get(key, from: self) }
    nonmutating set { transformationKey.set(key, value: newValue, to: self) }
  }

  /// The value of a key, stored by a transformation; setting `nil` removes.
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

  /// The value of a key, stored by a transformer that allows the reverse; setting `nil` removes.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - valueTransformer: What values become when they are stored.
  public subscript(
    key: PreferenceKey, valueTransformer: ValueTransformer
  ) -> PreferenceObject? {
    get { self[key, .valueTransformer(valueTransformer)] }
    nonmutating set { self[key, .valueTransformer(valueTransformer)] = newValue }
  }
}
