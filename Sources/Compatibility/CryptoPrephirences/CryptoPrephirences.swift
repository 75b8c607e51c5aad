internal import Foundation
internal import Synchronization

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

  private let state = Mutex(State())

  /// Creates preferences that are decrypted when they are read.
  ///
  /// - Parameters:
  ///   - preferences: The preferences that store the encrypted values.
  ///   - cipher: The cipher that decrypts the values.
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

  /// Why the last decryption or encryption failed; `nil` if none has failed.
  public var lastError: (any Error)? { state.withLock(\.lastError) }

  /// Returns the decrypted value of a key.
  open func object(forKey key: PreferenceKey) -> PreferenceObject? {
    object(forKey: key, withCipher: cipher)
  }

  /// Returns the decrypted value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value; `nil` if there is none.
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

  /// Returns the value of a key, decrypted by another cipher.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - cipher: The cipher.
  /// - Returns: The value; `nil` if there is none or it cannot be decrypted.
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
  /// - Parameter observer: The observer to notify.
  /// - Returns: The observation; it ends when this object is destroyed.
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
