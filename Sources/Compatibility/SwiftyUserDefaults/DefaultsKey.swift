public import Foundation
internal import Prephirences

/// The name of a value, its type, and its default.
///
/// A default is only returned: it is neither stored nor registered.
public struct DefaultsKey<ValueType: DefaultsSerializable> {
  /// The name under which the value is stored.
  public let _key: String

  /// The default; `nil` for an optional type without one.
  public let defaultValue: ValueType.T?

  @usableFromInline let missing: ValueType.T

  /// Creates a key with a default.
  public init(_ key: String, defaultValue: ValueType.T) {
    _key = key
    self.defaultValue = defaultValue
    missing = defaultValue
  }
}

extension DefaultsKey
where ValueType: OptionalType, ValueType.Wrapped: DefaultsSerializable, ValueType.T: OptionalType {
  /// Creates a key of an optional type, without a default.
  public init(_ key: String) {
    _key = key
    defaultValue = nil
    missing = .__swifty_empty
  }
}

// Unchecked because a default value does not change, even if its type is not `Sendable`, as
// `[String: Any]`.
extension DefaultsKey: @unchecked Sendable {}

/// A type whose properties are keys, which an adapter finds by key path or as members.
public protocol DefaultsKeyStore: Sendable {}

/// The keys of a program.
///
/// ```swift
/// extension DefaultsKeys {
///   var username: DefaultsKey<String?> { .init("username") }
///   var launchCount: DefaultsKey<Int> { .init("launchCount", defaultValue: 0) }
/// }
/// ```
public struct DefaultsKeys: DefaultsKeyStore {
  /// Creates the store of keys, which has no state.
  public init() {}
}

/// A type with an empty value; only `Optional` conforms.
public protocol OptionalType {
  /// The type of a value that is not empty.
  associatedtype Wrapped

  /// The empty value.
  static var __swifty_empty: Self { get }
}

extension Optional: OptionalType {
  /// The empty value: `nil`.
  public static var __swifty_empty: Self { nil }
}

extension UserDefaults {
  /// The value of a key.
  public subscript<T: DefaultsSerializable>(key: DefaultsKey<T>) -> T.T where T.T == T {
    @inlinable get { value(of: key) }
    @inlinable set { setValue(newValue, of: key) }
    _modify {
      var (value, isWritable) = readForChange(key)
      defer { if isWritable { setValue(value, of: key) } }
      yield &value
    }
  }

  /// Whether a key has a stored or registered value, or one from an argument, apart from its
  /// default.
  public func hasKey<T: DefaultsSerializable>(_ key: DefaultsKey<T>) -> Bool {
    hasObject(forKey: key._key)
  }

  /// Removes the value of a key, and saves the change; the key then has its default.
  public func remove<T: DefaultsSerializable>(_ key: DefaultsKey<T>) {
    removePreference(forKey: key._key)
  }

  /// Removes all values, and saves the change.
  public func removeAll() { clearAll() }
}

extension UserDefaults {
  /// Returns the value of a key, or its default; an unreadable value is recorded.
  @inlinable
  func value<T>(of key: DefaultsKey<T>) -> T.T {
    switch T._defaults._read(key: key._key, userDefaults: self) {
    case .value(let value): return value
    case .absent: return key.missing
    case .unreadable:
      didFindUnreadable(key)
      return key.missing
    }
  }

  /// Sets the value of a key, and saves it.
  @inlinable
  func setValue<T>(_ value: T.T, of key: DefaultsKey<T>) {
    T._defaults._write(key: key._key, value: value, userDefaults: self)
  }

  /// Reads the value of a key that is changed in place.
  ///
  /// If the value cannot be read, nothing is written: the changed default would replace it.
  func readForChange<T>(_ key: DefaultsKey<T>) -> (value: T.T, isWritable: Bool) {
    do {
      _ = try fetchObject(forKey: key._key)
    } catch {
      didRefuse(.unchanged(key._key, error), forKey: key._key)
      return (key.missing, false)
    }
    switch T._defaults._read(key: key._key, userDefaults: self) {
    case .value(let value):
      guard !isShortened(value, key._key) else {
        didRefuse(.shortened(key._key), forKey: key._key)
        return (value, false)
      }
      return (value, true)
    case .absent: return (key.missing, true)
    case .unreadable:
      didFindUnreadable(key)
      return (key.missing, false)
    }
  }

  /// Whether an array was read without some of its elements, such as raw values of a newer release,
  /// which a change in place would remove.
  private func isShortened(_ value: Any, _ key: String) -> Bool {
    guard let elements = unwrapped(value) as? [Any], let stored = preferenceArray(forKey: key)
    else { return false }
    return elements.count < stored.count
  }

  /// Records that the stored value of a key cannot be read, and why.
  @usableFromInline
  func didFindUnreadable<T>(_ key: DefaultsKey<T>) {
    var error = PreferencesError.unreadable(key._key, T.self)
    if let type = T.T.self as? any Decodable.Type,
      let data = preferenceObject(forKey: key._key) as? Data
    {
      do throws(PreferencesError) {
        _ = try CodableForm.decode(type, from: data, forKey: key._key)
      } catch let cause {
        error = cause
      }
    }
    didRefuse(error, forKey: key._key)
  }
}

// The messages do not contain values.
extension PreferencesError {
  /// Adds the key to an error of a bridge.
  static func refused(_ key: String, _ type: Any.Type, _ error: any Error) -> Self {
    guard let error = error as? PreferencesError else { return .unencodable(key, type, error) }
    return Self(error.code, "the value of the key '\(key)' was not stored: \(error.message)")
  }

  static func unchanged(_ key: String, _ error: any Error) -> Self {
    let known = error as? PreferencesError
    return Self(
      known?.code ?? .inputOutput,
      "the key '\(key)' was not changed, because it could not be read: "
        + (known?.message ?? String(describing: error)))
  }
}
