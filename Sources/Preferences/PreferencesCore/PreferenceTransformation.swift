internal import FoundationEssentials

/// A value of any type, before a transformation stores it.
public typealias PreferenceTransformationObject = Any

/// How a value is stored: as another type, an archive, encrypted, or with a default.
///
/// A conforming type implements ``transformedValue(_:)`` and ``reverseTransformedValue(_:)``. A
/// type that needs the name of the key, or must not change the stored value when it fails, also
/// implements ``get(_:from:)`` and ``set(_:value:to:)``, which all preferences call.
///
/// A program that uses a transformation on several threads is responsible for its thread safety.
public protocol PreferenceTransformation {
  /// Converts a stored value to a value; `nil` if there is none, or if it cannot be read.
  func reverseTransformedValue(_ value: PreferenceObject?) -> Any?

  /// Returns what to store for a value; `nil` removes the key.
  func transformedValue(_ value: Any?) -> PreferenceObject?

  /// Returns the value of a key, or `nil` if there is no value of this type.
  func get<T>(_ key: PreferenceKey, from preferences: any PreferencesType) -> T?

  /// Sets the value of a key; `nil` removes the key.
  func set<T>(_ key: PreferenceKey, value: T?, to preferences: any MutablePreferencesType)
}

extension PreferenceTransformation {
  /// Returns the value of a key, converted from the stored value.
  public func get<T>(_ key: PreferenceKey, from preferences: any PreferencesType) -> T? {
    PreferenceCast.cast(reverseTransformedValue(preferences.object(forKey: key)))
  }

  /// Sets the value of a key to the converted value.
  public func set<T>(
    _ key: PreferenceKey, value: T?, to preferences: any MutablePreferencesType
  ) {
    if let stored = unwrapped(transformedValue(unwrapped(value))) {
      preferences.set(stored as PreferenceObject?, forKey: key)
    } else {
      preferences.removeObject(forKey: key)
    }
  }
}

/// Preferences with a single value for all keys, used between two transformations.
package final class SinglePreference: MutablePreferencesType {
  package private(set) var value: Any?

  package private(set) var isSet = false

  /// Why a value was refused.
  package private(set) var refusal: PreferencesError?

  package init(_ value: Any?) { self.value = value }

  package func object(forKey key: PreferenceKey) -> PreferenceObject? { value }

  package func dictionary() -> PreferencesDictionary { [:] }

  package func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    self.value = value
    isSet = true
  }

  package func removeObject(forKey key: PreferenceKey) {
    set(nil as PreferenceObject?, forKey: key)
  }

  package func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) { refusal = error }
}

/// How values are stored by default.
package enum DefaultTransformation {
  /// Returns the transformation for a type of values.
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

/// Stores values as they are.
package struct PlainTransformation: PreferenceTransformation {
  package init() {}

  package func reverseTransformedValue(_ value: PreferenceObject?) -> Any? { value }

  package func transformedValue(_ value: Any?) -> PreferenceObject? { value }
}

/// Changes values that are read, and stores them as another transformation does.
struct ReadingTransformation<Value>: PreferenceTransformation {
  let base: any PreferenceTransformation
  let change: (Value?) -> Value?

  func reverseTransformedValue(_ value: PreferenceObject?) -> Any? {
    change(PreferenceCast.cast(base.reverseTransformedValue(value)))
  }

  func transformedValue(_ value: Any?) -> PreferenceObject? { base.transformedValue(value) }

  func get<T>(_ key: PreferenceKey, from preferences: any PreferencesType) -> T? {
    PreferenceCast.cast(change(base.get(key, from: preferences)))
  }

  func set<T>(_ key: PreferenceKey, value: T?, to preferences: any MutablePreferencesType) {
    base.set(key, value: value, to: preferences)
  }
}

/// Stores values as their raw values.
struct RawValueTransformation<Value: RawRepresentable>: PreferenceTransformation {
  func reverseTransformedValue(_ value: PreferenceObject?) -> Any? {
    if let value = value as? Value { return value }
    return PreferenceCast.cast(value, to: Value.RawValue.self).flatMap(Value.init(rawValue:))
  }

  func transformedValue(_ value: Any?) -> PreferenceObject? {
    (value as? Value)?.rawValue
  }

  func set<T>(_ key: PreferenceKey, value: T?, to preferences: any MutablePreferencesType) {
    guard let value = unwrapped(value) else { return preferences.removeObject(forKey: key) }
    // A value of another type must not remove the stored one.
    guard let rawValue = transformedValue(value) else {
      return preferences.didRefuse(.untransformable(key, type(of: value)), forKey: key)
    }
    preferences.set(rawValue as PreferenceObject?, forKey: key)
  }
}

extension RawRepresentable {
  /// Stores values as their raw values.
  public static var preferenceTransformation: any PreferenceTransformation {
    RawValueTransformation<Self>()
  }
}

extension PreferencesType {
  /// Returns the value whose raw value is stored for a key, or `nil` if there is none.
  public func rawRepresentable<T: RawRepresentable>(forKey key: PreferenceKey) -> T? {
    RawValueTransformation<T>().get(key, from: self)
  }
}

extension MutablePreferencesType {
  /// Sets the value of a key to the raw value of a value; `nil` removes the key.
  public func set<T: RawRepresentable>(rawValue value: T?, forKey key: PreferenceKey) {
    RawValueTransformation<T>().set(key, value: value, to: self)
  }
}

/// Stores values as the JSON data of their encoding.
package struct CodableTransformation<Value: Codable>: PreferenceTransformation {
  /// Whether values are stored as data, or unchanged for a store that encodes them itself.
  private let encodes: Bool

  package init(encodes: Bool = true) { self.encodes = encodes }

  package func reverseTransformedValue(_ value: PreferenceObject?) -> Any? {
    if let value: Value = PreferenceCast.cast(value) { return value }
    guard let value = unwrapped(value) else { return nil }
    return try? CodableForm.decode(Value.self, from: value, decoder: PreferenceCoders.jsonDecoder)
  }

  package func transformedValue(_ value: Any?) -> PreferenceObject? {
    guard encodes, let value = value as? Value else { return value }
    return try? PreferenceCoders.jsonEncoder.encode(value)
  }

  package func set<T>(_ key: PreferenceKey, value: T?, to preferences: any MutablePreferencesType) {
    guard let value = unwrapped(value) else { return preferences.removeObject(forKey: key) }
    // A value of another type, or one that cannot be encoded, must not remove the stored one.
    guard let value = value as? Value else {
      return preferences.didRefuse(.untransformable(key, type(of: value)), forKey: key)
    }
    do throws(PreferencesError) {
      let stored: Any = encodes ? try CodableForm.encode(value, forKey: key) : value
      preferences.set(stored as PreferenceObject?, forKey: key)
    } catch {
      preferences.didRefuse(error, forKey: key)
    }
  }
}
