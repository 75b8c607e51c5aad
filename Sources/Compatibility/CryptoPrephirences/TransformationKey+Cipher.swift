internal import Foundation

extension TransformationKey {
  /// Values are stored encrypted for their keys: moved to another key, a value cannot be decrypted.
  ///
  /// Values that cannot be decrypted read as `nil`. Values that are not encrypted do too, because
  /// anyone who can write the preferences can create them. Setting a value that cannot be encrypted
  /// changes nothing.
  ///
  /// - Parameter cipher: The cipher that encrypts and decrypts the values.
  /// - Returns: The transformation.
  public static func cipher(_ cipher: any Cipher) -> TransformationKey {
    .transformation(CipherTransformation(cipher))
  }
}

/// Stores values encrypted.
struct CipherTransformation: PreferenceTransformation {
  private let cipher: any Cipher

  init(_ cipher: any Cipher) { self.cipher = cipher }

  func encrypt(_ value: Any, key: PreferenceKey) throws -> Data {
    try cipher.encrypt(PlainWriter.data(of: value), authenticating: CipherContext.key(key))
  }

  func decrypt(_ stored: Any, key: PreferenceKey, as type: Any.Type? = nil) throws -> Any {
    try decrypt(stored, CipherContext.key(key), as: type)
  }

  private func decrypt(
    _ stored: Any, _ context: CipherContext, as type: Any.Type? = nil
  ) throws -> Any {
    guard let stored = stored as? Data else {
      throw CryptoPrephirencesError(.notEncrypted, "the value is not encrypted")
    }
    return try PlainReader.value(
      of: try cipher.decrypt(stored, authenticating: context), as: type)
  }

  func get<T>(_ key: PreferenceKey, from preferences: any PreferencesType) -> T? {
    guard let stored = unwrapped(preferences.object(forKey: key)),
      let value = try? decrypt(stored, key: key, as: T.self)
    else { return nil }
    return TransformationKey.none.get(key, from: DecryptedPreference(value: value))
  }

  func set<T>(_ key: PreferenceKey, value: T?, to preferences: any MutablePreferencesType) {
    preferences.set(unwrapped(value), forKey: key, withCipher: cipher)
  }

  // These two methods do not receive a key to which the value could be bound.

  func transformedValue(_ value: Any?) -> PreferenceObject? {
    guard let value = unwrapped(value), let plain = try? PlainWriter.data(of: value) else {
      return nil
    }
    return try? cipher.encrypt(plain, authenticating: CipherContext.anyKey)
  }

  func reverseTransformedValue(_ value: PreferenceObject?) -> Any? {
    unwrapped(value).flatMap { try? decrypt($0, CipherContext.anyKey) }
  }
}

/// Preferences with a single value, which is cast like other values.
private struct DecryptedPreference: PreferencesType {
  let value: Any

  func object(forKey key: PreferenceKey) -> PreferenceObject? { value }

  func dictionary() -> PreferencesDictionary { [:] }
}
