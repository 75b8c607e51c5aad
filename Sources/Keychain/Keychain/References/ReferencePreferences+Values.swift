public import Foundation
internal import KeychainCredentials
public import KeychainSecrets
public import Prephirences

extension ReferencePreferences {
  /// Returns the value of a key, or the secret that it refers to, in guarded memory.
  ///
  /// - Parameter key: The key.
  /// - Returns: The bytes of the secret, or of the text or data that the preferences have; `nil` if
  ///   they have no value.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/notFound``,
  ///   ``KeychainError/Code/locked``, ``KeychainError/Code/expired``, or
  ///   ``KeychainError/Code/refused`` if the reference is not declared or from elsewhere;
  ///   ``KeychainError/Code/undecodable`` if the value is neither text nor data; the error of the
  ///   preferences.
  public func secret(for key: String) throws -> SecretBytes? {
    if let secret = try resolved(key) { return secret }
    switch try preferences.fetchedObject(forKey: key) {
    case nil: return nil
    case let text as String: return try translated(secrets: SecretBytes(copying: text))
    case let data as Data: return try translated(secrets: SecretBytes(copying: data.bytes))
    default: throw KeychainError.undecodable("the value of '\(key)' is neither text nor data")
    }
  }

  /// Returns the text of a key, or that of the secret to which it refers.
  ///
  /// - Parameter key: The key.
  /// - Returns: The text; `nil` if there is no value, or if that is not text.
  /// - Throws: As ``secret(for:)``; ``KeychainError/Code/undecodable`` if the secret is not UTF-8.
  public func string(for key: String) throws -> String? {
    guard let secret = try resolved(key) else {
      return try preferences.fetchedObject(forKey: key) == nil
        ? nil : preferences.string(forKey: key)
    }
    guard let text = secret.withBytes({ $0.text }) else {
      throw KeychainError.undecodable("the secret that '\(key)' refers to is not UTF-8 text")
    }
    return text
  }

  /// Returns the data of a key, or the bytes of the secret to which it refers.
  ///
  /// - Parameter key: The key.
  /// - Returns: The bytes; `nil` if there is no value, or if that is not data.
  /// - Throws: As ``secret(for:)``.
  public func data(for key: String) throws -> Data? {
    if let secret = try resolved(key) { return secret.withBytes { Data($0.array) } }
    return try preferences.fetchedObject(forKey: key) as? Data
  }

  /// Returns the value of a key; a secret as text, or as data if it is not UTF-8.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: As ``secret(for:)``.
  public func value(for key: String) throws -> Any? {
    if let secret = try resolved(key) { return secret.textOrData() }
    return try preferences.fetchedObject(forKey: key)
  }

  /// Calls `read` with preferences that have the value of a key; a failure is recorded.
  private func reading<Result>(
    _ key: PreferenceKey, _ read: (any PreferencesType) -> Result
  ) -> Result? {
    recorded {
      guard let secret = try resolved(key) else { return read(preferences) }
      return read(DictionaryPreferences(dictionary: [key: secret.textOrData()]))
    }
  }
}

extension SecretBytes {
  fileprivate borrowing func textOrData() -> Any {
    withBytes { $0.text ?? Data($0.array) as Any }
  }
}

// The other preferences convert, because their getters may know more than the value shows.
extension ReferencePreferences: PreferencesType {
  /// Returns the value of a key, or `nil` for a failure; ``value(for:)`` throws it.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    recorded { try value(for: key) } ?? nil
  }

  /// Returns all values, with references as they are.
  public func dictionary() -> PreferencesDictionary { preferences.dictionary() }

  /// Returns whether a key has a value, without resolving it.
  public func hasObject(forKey key: PreferenceKey) -> Bool { preferences.hasObject(forKey: key) }

  /// Returns the text of a key, or `nil` for a failure; ``string(for:)`` throws it.
  public func string(forKey key: PreferenceKey) -> String? {
    recorded { try string(for: key) } ?? nil
  }

  /// Returns the bytes of a key, or `nil` for a failure; ``data(for:)`` throws it.
  public func data(forKey key: PreferenceKey) -> Data? {
    recorded { try resolved(key) == nil ? preferences.data(forKey: key) : data(for: key) } ?? nil
  }

  /// Returns the array of a key.
  public func array(forKey key: PreferenceKey) -> [PreferenceObject]? {
    reading(key) { $0.array(forKey: key) } ?? nil
  }

  /// Returns the dictionary of a key.
  public func dictionary(forKey key: PreferenceKey) -> PreferencesDictionary? {
    reading(key) { $0.dictionary(forKey: key) } ?? nil
  }

  /// Returns the array of strings of a key.
  public func stringArray(forKey key: PreferenceKey) -> [String]? {
    reading(key) { $0.stringArray(forKey: key) } ?? nil
  }

  /// Returns the integer of a key; 0 for a failure.
  public func integer(forKey key: PreferenceKey) -> Int {
    reading(key) { $0.integer(forKey: key) } ?? 0
  }

  /// Returns the number of a key, in single precision; 0 for a failure.
  public func float(forKey key: PreferenceKey) -> Float {
    reading(key) { $0.float(forKey: key) } ?? 0
  }

  /// Returns the number of a key; 0 for a failure.
  public func double(forKey key: PreferenceKey) -> Double {
    reading(key) { $0.double(forKey: key) } ?? 0
  }

  /// Returns the truth value of a key; `false` for a failure.
  public func bool(forKey key: PreferenceKey) -> Bool {
    reading(key) { $0.bool(forKey: key) } ?? false
  }

  /// Returns the URL of a key, or `nil` for a failure.
  public func url(forKey key: PreferenceKey) -> URL? {
    reading(key) { $0.url(forKey: key) } ?? nil
  }

  /// Returns the object whose archive is the value of a key, or `nil` for a failure.
  public func unarchiveObject(forKey key: PreferenceKey) -> PreferenceObject? {
    reading(key) { $0.unarchiveObject(forKey: key) } ?? nil
  }

  /// Starts notifying an observer of changes to the preferences, with references as they are.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    preferences.addObserver(observer)
  }
}
