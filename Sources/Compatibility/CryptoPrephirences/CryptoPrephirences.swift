internal import Foundation
internal import PrephirencesSystem

/// Preferences that store encrypted values in other preferences.
///
/// ```swift
/// let secrets = MutableCryptoPrephirences(preferences: defaults, cipher: cipher)
/// secrets["token"] = "secret"
/// ```
///
/// Each value is encrypted for its key, together with its type: moved to another key, it cannot be
/// decrypted. The names of the keys are not encrypted; an encrypted file also hides the names. A
/// person who can write the preferences can remove values or restore older ones.
///
/// A value that cannot be decrypted reads as `nil`; ``decryptedObject(forKey:)`` and ``lastError``
/// have the reason.
///
/// It is `Sendable` if the wrapped preferences are; don't share it between threads if they must not
/// be shared.
open class CryptoPrephirences: PreferencesType, @unchecked Sendable {
  private struct State {
    var returnsUndecryptable = false
    var lastError: (any Error)?
  }

  /// The preferences that store the encrypted values.
  public let preferences: any PreferencesType

  /// The cipher that decrypts the values.
  public let cipher: any Cipher

  private let state = PosixMutex(State())

  /// Creates preferences that are decrypted when they are read.
  public init(preferences: any PreferencesType, cipher: any Cipher) {
    self.preferences = preferences
    self.cipher = cipher
  }

  /// Whether values that cannot be decrypted are returned as they are stored, instead of left out;
  /// `false` by default.
  ///
  /// Anyone who can write the preferences can create such a value.
  public var returnsUndecryptable: Bool {
    get { state.withLock(\.returnsUndecryptable) }
    set { state.withLock { $0.returnsUndecryptable = newValue } }
  }

  /// An alias of ``returnsUndecryptable``.
  public var returnNotDecrytable: Bool {
    get { returnsUndecryptable }
    set { returnsUndecryptable = newValue }
  }

  /// An alias of ``returnsUndecryptable``.
  public var returnNotDecryptable: Bool {
    get { returnsUndecryptable }
    set { returnsUndecryptable = newValue }
  }

  /// Why the last decryption or encryption failed; `nil` if none has failed.
  public var lastError: (any Error)? { state.withLock(\.lastError) }

  /// The last error as an error of preferences, or else the failure of ``preferences``.
  public var lastPreferencesError: PreferencesError? {
    lastError.map { .converting($0, "a value could not be encrypted or decrypted") }
      ?? preferences.lastPreferencesError
  }

  /// Returns the decrypted value of a key.
  open func object(forKey key: PreferenceKey) -> PreferenceObject? {
    object(forKey: key, withCipher: cipher)
  }

  /// Returns the decrypted value of a key, or `nil` if there is none.
  ///
  /// - Throws: The cipher's errors; ``SecretCipher`` and this class throw
  ///   ``CryptoPrephirencesError``.
  public func decryptedObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    try preferences.decryptedObject(forKey: key, withCipher: cipher)
  }

  /// Returns all preferences that can be decrypted.
  open func dictionary() -> PreferencesDictionary {
    preferences.dictionary().reduce(into: [:]) { all, element in
      all[element.key] = decrypt(element.value, key: element.key, cipher)
    }
  }

  /// Returns the value of a key, decrypted by another cipher; `nil` if there is none or it cannot
  /// be decrypted.
  public func object(forKey key: PreferenceKey, withCipher cipher: any Cipher) -> PreferenceObject?
  {
    preferences.object(forKey: key).flatMap { decrypt($0, key: key, cipher) }
  }

  private func decrypt(_ stored: Any, key: PreferenceKey, _ cipher: any Cipher) -> Any? {
    guard let stored = unwrapped(stored) else { return nil }
    do {
      return try CipherTransformation(cipher).decrypt(stored, key: key)
    } catch {
      note(error)
      return returnsUndecryptable ? stored : nil
    }
  }

  func note(_ error: any Error) { state.withLock { $0.lastError = error } }
}

extension CryptoPrephirences {
  /// Starts notifying an observer of changes, with decrypted values.
  ///
  /// - Returns: The observation, which ends when it is destroyed.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    let transformation = CipherTransformation(cipher)
    let decrypting = PreferenceObserver(
      keys: observer.keys, initial: observer.wantsInitialValues, end: observer.notifyEnd
    ) { change in
      observer.notify(
        change.mapped { stored in
          stored.flatMap { try? transformation.decrypt($0, key: change.key) }
        })
    }
    return preferences.addObserver(decrypting)
  }
}

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

  /// Sets the value of a key, encrypted; `nil` removes the key.
  ///
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

extension PreferencesType {
  /// Returns the decrypted value of a key, or `nil` if there is none or it cannot be decrypted.
  ///
  /// ``decryptedObject(forKey:withCipher:)`` distinguishes these.
  public func object(forKey key: PreferenceKey, withCipher cipher: any Cipher) -> PreferenceObject?
  {
    try? decryptedObject(forKey: key, withCipher: cipher)
  }

  /// Returns the decrypted value of a key, or `nil` if there is none.
  ///
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
  /// Sets the value of a key, encrypted; `nil` removes the key.
  ///
  /// A value that cannot be encrypted changes nothing, and becomes the last error of preferences
  /// that record one; ``setEncrypted(_:forKey:withCipher:)`` throws the error.
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

  /// Sets the value of a key, encrypted; `nil` removes the key.
  ///
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

extension TransformationKey {
  /// Values are stored encrypted for their keys: moved to another key, a value cannot be decrypted.
  ///
  /// Values that cannot be decrypted read as `nil`. Values that are not encrypted do too, because
  /// anyone who can write the preferences can create them. Setting a value that cannot be encrypted
  /// changes nothing.
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
