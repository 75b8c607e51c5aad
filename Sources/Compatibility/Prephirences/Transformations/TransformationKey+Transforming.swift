internal import Foundation

extension TransformationKey: PreferenceTransformation {
  /// Returns the value of a stored value.
  ///
  /// - Parameter value: The stored value; `nil` if there is none.
  /// - Returns: The value; `nil` if there is none, or if the stored value cannot be read.
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

  /// Returns what to store for a value.
  ///
  /// - Parameter value: The value; `nil` removes the key.
  /// - Returns: The value to store; `nil` removes the key.
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

  /// Returns the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - preferences: The preferences that store it.
  /// - Returns: The value; `nil` if there is no value of this type.
  public func get<T>(_ key: PreferenceKey, from preferences: any PreferencesType) -> T? {
    switch self {
    case .none: PreferenceCast.cast(preferences.object(forKey: key))
    case .compose(let transformations): Self.get(key, from: preferences, by: transformations[...])
    case .transformation(let transformation): transformation.get(key, from: preferences)
    case .archive, .closureTuple, .valueTransformer:
      PreferenceCast.cast(reverseTransformedValue(preferences.object(forKey: key)))
    }
  }

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value; `nil` removes the key.
  ///   - preferences: The preferences that store it.
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

  /// Returns why a value without a result cannot be stored; `nil` if it must be removed.
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
