public import Foundation
public import KeychainCredentials
public import Prephirences

// Other spellings of the same things, which published programs use.
extension KeychainPreferences {
  /// What is known about a credential, without its secret; another name of `Credential`.
  public typealias Attribute = Credential

  /// Returns what is known about the value of a key; another spelling of ``subscript(attribute:)``.
  ///
  /// - Parameter key: The key.
  /// - Returns: The credential, or `nil`; ``lastError`` says whether that is a failure.
  public func attribute(forKey key: PreferenceKey) -> Attribute? { self[attribute: key] }

  /// Sets the value of a key to a URL; another spelling of `set(_:forKey:)`.
  ///
  /// - Parameters:
  ///   - url: The URL; `nil` removes.
  ///   - key: The key.
  public func set(url: URL?, forKey key: PreferenceKey) {
    set(url as PreferenceObject?, forKey: key)
  }
}
