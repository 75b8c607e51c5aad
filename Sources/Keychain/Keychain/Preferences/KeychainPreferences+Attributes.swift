public import Foundation
public import KeychainCredentials
public import Prephirences

// Other names for the same things, which published programs use.
extension KeychainPreferences {
  /// A credential without its secret; another name for `Credential`.
  public typealias Attribute = Credential

  /// Returns the credential of a key; another name for ``subscript(attribute:)``.
  ///
  /// - Parameter key: The key.
  /// - Returns: The credential, or `nil`; ``lastError`` reports whether that is a failure.
  public func attribute(forKey key: PreferenceKey) -> Attribute? { self[attribute: key] }

  /// Sets the value of a key to a URL; another name for `set(_:forKey:)`.
  ///
  /// - Parameters:
  ///   - url: The URL; `nil` removes the key.
  ///   - key: The key.
  public func set(url: URL?, forKey key: PreferenceKey) {
    set(url as PreferenceObject?, forKey: key)
  }
}
