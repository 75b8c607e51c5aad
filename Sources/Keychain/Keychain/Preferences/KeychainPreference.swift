public import Prephirences

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
