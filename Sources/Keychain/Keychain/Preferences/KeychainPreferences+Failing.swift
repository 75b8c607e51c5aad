internal import Dispatch
public import KeychainCredentials
public import Prephirences

/// The keychain reports failures, such as a locked vault.
extension KeychainPreferences: FalliblePreferencesType {
  /// Returns the value of a key; another name for `value(for:)`.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: As `value(for:)`.
  public func fetchObject(forKey key: PreferenceKey) throws(KeychainError) -> PreferenceObject? {
    try value(for: key)
  }

  /// Returns all values.
  ///
  /// - Returns: The values by their keys.
  /// - Throws: As `allKeys()` and `value(for:)`.
  public func fetchDictionary() throws(KeychainError) -> PreferencesDictionary {
    var values: PreferencesDictionary = [:]
    for key in try allKeys() { values[key] = try value(for: key) }
    return values
  }

  /// Sets the value of a key; another name for `set(_:for:)`.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: As `set(_:for:)`.
  public func storeObject(
    _ value: PreferenceObject?, forKey key: PreferenceKey
  ) throws(KeychainError) {
    try set(value, for: key)
  }

  /// Removes all keys; another name for `removeAll()`.
  ///
  /// - Throws: As `removeAll()`.
  public func removeAllObjects() throws(KeychainError) { try removeAll() }
}

extension KeychainPreferences: ChangeReportingPreferences {
  package func observeChanges(
    _ handler: @escaping @Sendable () -> Void
  ) -> PreferenceObservation {
    // The thread that reports a change must not wait for the store.
    let queue = DispatchQueue(label: "keychain.preferences.changes")
    let observation = observe { _ in queue.async(execute: handler) }
    return PreferenceObservation { observation.cancel() }
  }
}

extension KeychainError: PreferencesErrorConvertible {
  /// The failure as an error of preferences, with the same message.
  public var preferencesError: PreferencesError {
    let code: PreferencesError.Code =
      switch self.code {
      case .locked, .incorrectSecret: .locked
      case .damaged, .rolledBack, .foreign: .damaged
      case .invalidArgument, .tooLarge: .unstorable
      case .undecodable: .typeMismatch
      case .timedOut, .busy: .timedOut
      case .versionConflict: .conflict
      case .insecurePermissions: .insecure
      case .unsupportedFormat: .unsupportedFormat
      case .noStore: .noPlace
      case .outcomeUnknown: .outcomeUnknown
      default: .inputOutput
      }
    return PreferencesError(code, description)
  }
}
