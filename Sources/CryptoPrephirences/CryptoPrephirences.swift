internal import Foundation
internal import Synchronization

/// Preferences whose values are stored encrypted in others.
///
/// ```swift
/// let secrets = MutableCryptoPrephirences(preferences: defaults, cipher: cipher)
/// secrets["token"] = "secret"
/// ```
///
/// Each value is encrypted, with its type, for its key: moved to another key, it cannot be
/// decrypted. The names of the keys are stored in clear; an encrypted file hides them, too. Somebody
/// who can write the preferences can remove values, and put older ones back.
///
/// What cannot be decrypted reads as `nil`; ``decryptedObject(forKey:)`` and ``lastError`` say why.
///
/// It is `Sendable` as far as the preferences are that it wraps: whoever wraps some that may not be
/// shared does not share these.
open class CryptoPrephirences: PreferencesType, @unchecked Sendable {
  private struct State {
    var returnsUndecryptable = false
    var lastError: (any Error)?
  }

  /// Where the encrypted values are.
  public let preferences: any PreferencesType

  /// What decrypts them.
  public let cipher: any Cipher

  private let state = Mutex(State())

  /// Makes preferences that are decrypted when they are read.
  ///
  /// - Parameters:
  ///   - preferences: Where the encrypted values are.
  ///   - cipher: What decrypts them.
  public init(preferences: any PreferencesType, cipher: any Cipher) {
    self.preferences = preferences
    self.cipher = cipher
  }

  /// Whether values that cannot be decrypted are returned as they are stored, and not left out; at
  /// first `false`.
  ///
  /// Such a value may come from anybody who can write the preferences.
  public var returnsUndecryptable: Bool {
    get { state.withLock(\.returnsUndecryptable) }
    set { state.withLock { $0.returnsUndecryptable = newValue } }
  }

  /// Whether values that cannot be decrypted are returned; see ``returnsUndecryptable``.
  public var returnNotDecrytable: Bool {
    get { returnsUndecryptable }
    set { returnsUndecryptable = newValue }
  }

  /// Whether values that cannot be decrypted are returned; see ``returnsUndecryptable``.
  public var returnNotDecryptable: Bool {
    get { returnsUndecryptable }
    set { returnsUndecryptable = newValue }
  }

  /// Why a value could last not be decrypted or encrypted; `nil` if all could.
  public var lastError: (any Error)? { state.withLock(\.lastError) }

  /// Returns the decrypted value of a key.
  open func object(forKey key: PreferenceKey) -> PreferenceObject? {
    object(forKey: key, withCipher: cipher)
  }

  /// Returns the decrypted value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value; `nil` if there is none.
  /// - Throws: What the cipher throws; ``SecretCipher`` and this class throw
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

  /// Returns the value of a key, decrypted by another cipher.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - cipher: The cipher.
  /// - Returns: The value; `nil` if there is none, or it cannot be decrypted.
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
  /// Begins to tell decrypted changes to an observer.
  ///
  /// - Parameter observer: Who is to be told.
  /// - Returns: Keeps the observation alive.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    let transformation = CipherTransformation(cipher)
    let decrypting = PreferenceObserver(
      keys: observer.keys, initial: observer.wantsInitialValues, end: observer.tellEnd
    ) { change in
      observer.tell(
        change.mapped { stored in
          stored.flatMap { try? transformation.decrypt($0, key: change.key) }
        })
    }
    return preferences.addObserver(decrypting)
  }
}
