internal import Foundation

/// Preferences whose values are stored encrypted in others, and can be changed.
///
/// A value that cannot be encrypted changes nothing; ``setEncrypted(_:forKey:)`` and
/// ``CryptoPrephirences/lastError`` say why.
open class MutableCryptoPrephirences: CryptoPrephirences, MutablePreferencesType,
  @unchecked Sendable
{
  /// Where the encrypted values are.
  public let mutablePreferences: any MutablePreferencesType

  /// Makes preferences that are encrypted when they are set.
  ///
  /// - Parameters:
  ///   - preferences: Where to store the encrypted values.
  ///   - cipher: What encrypts and decrypts them.
  public init(preferences: any MutablePreferencesType, cipher: any Cipher) {
    mutablePreferences = preferences
    super.init(preferences: preferences, cipher: cipher)
  }

  /// Sets the value of a key, encrypted; `nil` removes.
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
  ///   - value: The value; `nil` removes.
  ///   - key: The key.
  /// - Throws: What the cipher throws, and ``CryptoPrephirencesError`` with
  ///   ``CryptoPrephirencesError/Code/unstorable``. The stored value stays.
  public func setEncrypted(_ value: PreferenceObject?, forKey key: PreferenceKey) throws {
    try mutablePreferences.setEncrypted(value, forKey: key, withCipher: cipher)
  }

  /// Removes a key with its value.
  open func removeObject(forKey key: PreferenceKey) {
    mutablePreferences.removeObject(forKey: key)
  }

  /// Takes note of a value that was refused, as ``CryptoPrephirences/lastError``.
  open func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) { note(error) }

  /// Removes all keys with their values, also those that cannot be decrypted.
  open func clearAll() { mutablePreferences.clearAll() }
}
