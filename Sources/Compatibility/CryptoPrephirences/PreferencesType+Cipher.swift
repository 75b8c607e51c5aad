internal import Foundation

extension PreferencesType {
  /// Returns the decrypted value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - cipher: The cipher.
  /// - Returns: The value; `nil` if there is none or it cannot be decrypted:
  ///   ``decryptedObject(forKey:withCipher:)`` distinguishes these.
  public func object(forKey key: PreferenceKey, withCipher cipher: any Cipher) -> PreferenceObject?
  {
    try? decryptedObject(forKey: key, withCipher: cipher)
  }

  /// Returns the decrypted value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - cipher: The cipher.
  /// - Returns: The value; `nil` if there is none.
  /// - Throws: The cipher's errors, and ``CryptoPrephirencesError`` with
  ///   ``CryptoPrephirencesError/Code/notEncrypted`` for a value that is not data, or
  ///   ``CryptoPrephirencesError/Code/undecodable``.
  public func decryptedObject(
    forKey key: PreferenceKey, withCipher cipher: any Cipher
  ) throws -> PreferenceObject? {
    guard let stored = unwrapped(object(forKey: key)) else { return nil }
    return try CipherTransformation(cipher).decrypt(stored, key: key)
  }
}

extension MutablePreferencesType {
  /// Sets the value of a key, encrypted.
  ///
  /// A value that cannot be encrypted changes nothing, and is the last error of preferences that
  /// record one; ``setEncrypted(_:forKey:withCipher:)`` throws the error.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  ///   - cipher: The cipher.
  public func set(
    _ value: PreferenceObject?, forKey key: PreferenceKey, withCipher cipher: any Cipher
  ) {
    do {
      try setEncrypted(value, forKey: key, withCipher: cipher)
    } catch {
      // Another cipher's message may contain the value.
      let reason = (error as? CryptoPrephirencesError)?.message ?? "the cipher failed"
      didRefuse(
        PreferencesError(
          .unstorable, "the value of the key '\(key)' cannot be encrypted: \(reason)"),
        forKey: key)
    }
  }

  /// Sets the value of a key, encrypted.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  ///   - cipher: The cipher.
  /// - Throws: The cipher's errors, and ``CryptoPrephirencesError`` with
  ///   ``CryptoPrephirencesError/Code/unstorable`` for a value that is neither `Codable` nor
  ///   `NSCoding`. The stored value does not change.
  public func setEncrypted(
    _ value: PreferenceObject?, forKey key: PreferenceKey, withCipher cipher: any Cipher
  ) throws {
    guard let value = unwrapped(value) else { return removeObject(forKey: key) }
    let stored = try CipherTransformation(cipher).encrypt(value, key: key)
    set(stored as PreferenceObject?, forKey: key)
  }
}
