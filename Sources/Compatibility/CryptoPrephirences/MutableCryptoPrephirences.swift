internal import Foundation

/// Mutable preferences that store encrypted values in other preferences.
///
/// A value that cannot be encrypted changes nothing; ``setEncrypted(_:forKey:)`` and
/// ``CryptoPrephirences/lastError`` have the reason.
open class MutableCryptoPrephirences: CryptoPrephirences, MutablePreferencesType,
  @unchecked Sendable
{
  /// The preferences that store the encrypted values.
  public let mutablePreferences: any MutablePreferencesType

  /// Creates preferences that are encrypted when they are set.
  ///
  /// - Parameters:
  ///   - preferences: The preferences that store the encrypted values.
  ///   - cipher: The cipher that encrypts and decrypts the values.
  public init(preferences: any MutablePreferencesType, cipher: any Cipher) {
    mutablePreferences = preferences
    super.init(preferences: preferences, cipher: cipher)
  }

  /// Sets the value of a key, encrypted; `nil` removes the key.
  open func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    do {
      try setEncrypted(value, forKey: key)
    } catch {
      note(error)
    }
  }

  /// Sets the value of a key, encrypted.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: The cipher's errors, and ``CryptoPrephirencesError`` with
  ///   ``CryptoPrephirencesError/Code/unstorable``. The stored value does not change.
  public func setEncrypted(_ value: PreferenceObject?, forKey key: PreferenceKey) throws {
    try mutablePreferences.setEncrypted(value, forKey: key, withCipher: cipher)
  }

  /// Removes a key and its value.
  open func removeObject(forKey key: PreferenceKey) {
    mutablePreferences.removeObject(forKey: key)
  }

  /// Records a refused value as ``CryptoPrephirences/lastError``.
  open func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) { note(error) }

  /// Removes all keys and their values, including those that cannot be decrypted.
  open func clearAll() { mutablePreferences.clearAll() }
}
