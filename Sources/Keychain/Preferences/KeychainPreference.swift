public import Prephirences

/// One value of a keychain.
///
/// ```swift
/// @KeychainPreference(key: "token")
/// var token: String?
/// ```
///
/// A failure, such as a locked vault, reads as `nil`; ``KeychainPreferences/lastError`` tells it.
/// Where that matters, the methods of ``KeychainPreferences`` that throw are the better choice.
@propertyWrapper
open class KeychainPreference<T>: MutablePreference<T>, @unchecked Sendable {
  // Unchecked as the class above it, which has all that changes behind a lock.

  /// The keychain.
  public let keychain: KeychainPreferences

  /// Makes a preference.
  ///
  /// - Parameters:
  ///   - keychain: The keychain.
  ///   - key: The key.
  ///   - transformation: How the value is stored. If it is `nil`, it is stored as the keychain
  ///     stores values of its type, `Codable` ones among them.
  public init(
    keychain: KeychainPreferences = .sharedInstance, key: PreferenceKey,
    transformation: (any PreferenceTransformation)? = nil
  ) {
    self.keychain = keychain
    super.init(
      preferences: keychain, key: key,
      transformation: transformation ?? DefaultTransformation.of(T.self, encodes: false))
  }

  /// The value, or `nil` if there is none of this type; setting `nil` removes.
  open override var wrappedValue: T? {
    get { value }
    set { value = newValue }
  }

  /// The preference itself.
  open override var projectedValue: KeychainPreference<T> { self }
}
