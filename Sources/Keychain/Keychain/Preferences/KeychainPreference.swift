public import PreferencesCore

/// One value of a keychain.
///
/// ```swift
/// @KeychainPreference(key: "token")
/// var token: String?
/// ```
///
/// A failure, such as a locked vault, reads as `nil`; ``KeychainPreferences/lastError`` reports it.
/// To handle failures, use the throwing methods of ``KeychainPreferences``.
@propertyWrapper
open class KeychainPreference<T>: MutablePreference<T>, @unchecked Sendable {
  // Unchecked like the superclass, which keeps all its mutable state behind a lock.

  /// The keychain.
  public let keychain: KeychainPreferences

  /// Creates a preference.
  ///
  /// - Parameters:
  ///   - keychain: The keychain.
  ///   - key: The key.
  ///   - transformation: How the value is stored. If `nil`, the keychain stores it as it stores
  ///     values of its type, including `Codable` ones.
  public init(
    keychain: KeychainPreferences = .sharedInstance, key: PreferenceKey,
    transformation: (any PreferenceTransformation)? = nil
  ) {
    self.keychain = keychain
    super.init(
      preferences: keychain, key: key,
      transformation: transformation ?? DefaultTransformation.of(T.self, encodes: false))
  }

  /// The value, or `nil` if there is none of this type; setting `nil` removes it.
  open override var wrappedValue: T? {
    get { value }
    set { value = newValue }
  }

  /// The preference itself.
  open override var projectedValue: KeychainPreference<T> { self }
}

/// One value of a keychain, with a default.
///
/// ```swift
/// @KeychainPreferenceValue(key: "tries", default: 0)
/// var tries: Int
/// ```
///
/// The default is returned, and not stored, if there is no value, a value of another type, or a
/// failure; see ``KeychainPreference``. `$tries` is the ``KeychainPreference``, which can also be
/// cleared.
@propertyWrapper
public struct KeychainPreferenceValue<T>: @unchecked Sendable {
  // Unchecked because the default may be of any type; nothing here changes.

  /// The preference.
  public let projectedValue: KeychainPreference<T>

  /// The value if none is stored.
  public let defaultValue: T

  /// Creates a preference with a default.
  ///
  /// - Parameters:
  ///   - keychain: The keychain.
  ///   - key: The key.
  ///   - defaultValue: The value if none is stored.
  ///   - transformation: How the value is stored; see
  ///     ``KeychainPreference/init(keychain:key:transformation:)``.
  public init(
    keychain: KeychainPreferences = .sharedInstance, key: PreferenceKey,
    default defaultValue: T, transformation: (any PreferenceTransformation)? = nil
  ) {
    projectedValue = KeychainPreference(
      keychain: keychain, key: key, transformation: transformation)
    self.defaultValue = defaultValue
  }

  /// Creates a preference whose default is the initial value of the property.
  ///
  /// - Parameters:
  ///   - wrappedValue: The value if none is stored.
  ///   - keychain: The keychain.
  ///   - key: The key.
  ///   - transformation: How the value is stored; see
  ///     ``KeychainPreference/init(keychain:key:transformation:)``.
  public init(
    wrappedValue: T, keychain: KeychainPreferences = .sharedInstance,
    key: PreferenceKey, transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(keychain: keychain, key: key, default: wrappedValue, transformation: transformation)
  }

  /// The value, or the default.
  public var wrappedValue: T {
    get { projectedValue.value ?? defaultValue }
    nonmutating set { projectedValue.value = newValue }
  }
}
