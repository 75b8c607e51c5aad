#if canImport(ObjectiveC)
public import Foundation
#else
internal import Foundation
#endif

/// The named transformations.
///
/// ```swift
/// preferences["color", .archive] = color
/// ```
public enum TransformationKey {
  /// Values are stored as they are.
  case none

  /// Values are stored as the data of `NSKeyedArchiver`.
  ///
  /// Setting a value that cannot be archived changes nothing.
  case archive

  /// Two closures: one returns the value to store, the other the value of a stored value.
  ///
  /// Without the first closure, values are stored unchanged.
  case closureTuple(
    transform: ((Any?) -> PreferenceObject?)?, revert: (PreferenceObject?) -> Any?)

  /// Several transformations; the first is next to the store.
  ///
  /// Reading applies them from first to last, writing from last to first. If one of them refuses a
  /// value, nothing is changed.
  case compose(transformations: [any PreferenceTransformation])

  /// A transformer, which must allow reverse transformation.
  ///
  /// If it does not, or returns `nil` for a value, setting changes nothing.
  case valueTransformer(ValueTransformer)

  /// Any other transformation.
  case transformation(any PreferenceTransformation)
}

// Unchecked because closures, transformers and other transformations may be anything. A program
// that uses one on several threads is responsible for its thread safety, and for that of the
// preferences.
extension TransformationKey: @unchecked Sendable {}

extension TransformationKey {
  /// Values of a type are stored as JSON data, by ``Prephirences/jsonEncoder``.
  public static func codable<Value: Codable>(_ type: Value.Type) -> TransformationKey {
    .transformation(CodableTransformation<Value>())
  }

  /// Values are stored as they are; an alias of `none`.
  public static var None: TransformationKey { .none }

  /// Values are stored as archives; an alias of ``archive``.
  public static var Archive: TransformationKey { .archive }

  /// Names a transformation, which may already be a `TransformationKey`.
  init(_ transformation: any PreferenceTransformation) {
    self =
      transformation is PlainTransformation
      ? .none : transformation as? TransformationKey ?? .transformation(transformation)
  }
}

extension TransformationKey: Equatable {
  /// Whether two transformations are known to be the same.
  ///
  /// Closures are never equal, and other transformations cannot be compared.
  public static func == (left: TransformationKey, right: TransformationKey) -> Bool {
    switch (left, right) {
    case (.none, .none), (.archive, .archive): true
    case (.compose(let left), .compose(let right)): left.isEmpty && right.isEmpty
    case (.valueTransformer(let left), .valueTransformer(let right)): left == right
    default: false
    }
  }
}

extension TransformationKey: PreferenceTransformation {
  /// Converts a stored value to a value; `nil` if there is none, or if it cannot be read.
  public func reverseTransformedValue(_ value: PreferenceObject?) -> Any? {
    switch self {
    case .none: value
    case .archive: (value as? Data).flatMap(PreferenceArchive.unarchive)
    case .closureTuple(_, let revert): revert(value)
    case .compose(let transformations):
      transformations.reduce(value) { $1.reverseTransformedValue($0) }
    case .valueTransformer(let transformer): transformer.reverseTransformedValue(value)
    case .transformation(let transformation): transformation.reverseTransformedValue(value)
    }
  }

  /// Returns what to store for a value; `nil` removes the key.
  public func transformedValue(_ value: Any?) -> PreferenceObject? {
    switch self {
    case .none: value
    case .archive: unwrapped(value).flatMap(PreferenceArchive.archive)
    case .closureTuple(let transform, _): transform.map { $0(value) } ?? value
    case .compose(let transformations):
      transformations.reversed().reduce(value) { $1.transformedValue($0) }
    case .valueTransformer(let transformer): transformer.transformedValue(value)
    case .transformation(let transformation): transformation.transformedValue(value)
    }
  }

  /// Returns the value of a key, or `nil` if there is no value of this type.
  public func get<T>(_ key: PreferenceKey, from preferences: any PreferencesType) -> T? {
    switch self {
    case .none: PreferenceCast.cast(preferences.object(forKey: key))
    case .compose(let transformations): Self.get(key, from: preferences, by: transformations[...])
    case .transformation(let transformation): transformation.get(key, from: preferences)
    case .archive, .closureTuple, .valueTransformer:
      PreferenceCast.cast(reverseTransformedValue(preferences.object(forKey: key)))
    }
  }

  /// Sets the value of a key; `nil` removes the key.
  public func set<T>(
    _ key: PreferenceKey, value: T?, to preferences: any MutablePreferencesType
  ) {
    let value = unwrapped(value)
    switch self {
    case .none:
      return value == nil
        ? preferences.removeObject(forKey: key) : preferences.set(value, forKey: key)
    case .compose(let transformations):
      return Self.set(key, value, to: preferences, by: transformations[...])
    case .transformation(let transformation):
      return transformation.set(key, value: value, to: preferences)
    case .valueTransformer(let transformer)
    where !type(of: transformer).allowsReverseTransformation():
      return preferences.didRefuse(.irreversible(key), forKey: key)
    case .archive, .closureTuple, .valueTransformer: break
    }
    if let stored = unwrapped(transformedValue(value)) {
      preferences.set(stored as PreferenceObject?, forKey: key)
    } else if let value, let refusal = refusal(of: value, forKey: key) {
      preferences.didRefuse(refusal, forKey: key)
    } else {
      preferences.removeObject(forKey: key)
    }
  }

  /// Returns why a value without a result cannot be stored, or `nil` if it must be removed.
  private func refusal(of value: Any, forKey key: PreferenceKey) -> PreferencesError? {
    switch self {
    case .archive: .unarchivable(key, type(of: value))
    case .valueTransformer: .untransformable(key, type(of: value))
    case .none, .closureTuple, .compose, .transformation: nil
    }
  }

  // Each of several transformations reads and writes with its own methods, because it may need the
  // key or refuse a value. Those that are not next to the store use preferences with a single value
  // instead.

  private static func get<T>(
    _ key: PreferenceKey, from preferences: any PreferencesType,
    by transformations: ArraySlice<any PreferenceTransformation>
  ) -> T? {
    guard let first = transformations.first else {
      return PreferenceCast.cast(preferences.object(forKey: key))
    }
    if transformations.count == 1 { return first.get(key, from: preferences) }
    let value: Any? = first.get(key, from: preferences)
    return get(key, from: SinglePreference(value), by: transformations.dropFirst())
  }

  private static func set(
    _ key: PreferenceKey, _ value: Any?, to preferences: any MutablePreferencesType,
    by transformations: ArraySlice<any PreferenceTransformation>
  ) {
    guard let last = transformations.last else {
      return TransformationKey.none.set(key, value: value, to: preferences)
    }
    if transformations.count == 1 { return last.set(key, value: value, to: preferences) }
    let stored = SinglePreference(nil)
    last.set(key, value: value, to: stored)
    guard stored.isSet else {
      if let refusal = stored.refusal { preferences.didRefuse(refusal, forKey: key) }
      return
    }
    set(key, stored.value, to: preferences, by: transformations.dropLast())
  }
}

// Subscripts with a transformation. The overloads differ only in its type, so that `.archive` can
// be written without a type name.
extension PreferencesType {
  /// The value that a closure derives from the stored value of a key, or from `nil`.
  public subscript(key: PreferenceKey, closure: (PreferenceObject?) -> Any?) -> Any? {
    closure(object(forKey: key))
  }

  /// The value of a key, stored by a named transformation.
  public subscript(key: PreferenceKey, transformationKey: TransformationKey) -> Any? {
    transformationKey.get(key, from: self)
  }

  /// The value of a key, stored by a transformation.
  public subscript(
    key: PreferenceKey, transformation: any PreferenceTransformation
  ) -> Any? {
    transformation.get(key, from: self)
  }

  /// The value of a key, stored by a transformer.
  public subscript(
    key: PreferenceKey, valueTransformer: ValueTransformer
  ) -> PreferenceObject? {
    self[key, .valueTransformer(valueTransformer)]
  }
}

extension MutablePreferencesType {
  /// The value of a key, stored by a named transformation; setting `nil` removes the key.
  public subscript(key: PreferenceKey, transformationKey: TransformationKey) -> Any? {
    get { transformationKey.get(key, from: self) }
    nonmutating set { transformationKey.set(key, value: newValue, to: self) }
  }

  /// The value of a key, stored by a transformation; setting `nil` removes the key.
  public subscript(
    key: PreferenceKey, transformation: any PreferenceTransformation
  ) -> Any? {
    get { transformation.get(key, from: self) }
    nonmutating set { transformation.set(key, value: newValue, to: self) }
  }

  /// The value of a key, stored by a reversible transformer; setting `nil` removes the key.
  public subscript(
    key: PreferenceKey, valueTransformer: ValueTransformer
  ) -> PreferenceObject? {
    get { self[key, .valueTransformer(valueTransformer)] }
    nonmutating set { self[key, .valueTransformer(valueTransformer)] = newValue }
  }
}
