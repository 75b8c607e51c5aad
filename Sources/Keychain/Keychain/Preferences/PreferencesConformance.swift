internal import Dispatch
public import FoundationEssentials
public import KeychainCredentials
public import PreferencesCore
internal import PrephirencesSystem

// The preference protocols. A failure reads as `nil`, never causes a write, and is reported by
// `lastError` and `lastStatus`. The comment of each method begins with that, and names the throwing
// method.
extension KeychainPreferences {
  /// The failure of the last non-throwing call, on any thread; `nil` if it succeeded.
  ///
  /// A key without a value is not a failure. If several threads share these preferences, use the
  /// throwing methods.
  public var lastError: KeychainError? { state.withLock(\.lastError) }

  /// The failure as an error of preferences.
  public var lastPreferencesError: PreferencesError? { lastError?.preferencesError }

  /// The status of the last non-throwing call, on any thread, as a number of Apple's keychain.
  ///
  /// It is `nil` before the first call, and `errSecItemNotFound` if the key has no value.
  public var lastStatus: OSStatus? { state.withLock(\.lastStatus) }

  /// Returns the value of a key, or `nil` for a failure; `value(for:)` throws it.
  ///
  /// The value has its stored type. ``lastError`` reports a failure. `keychain["key"]` is the same.
  /// Both return a `Codable` value as `Data`, which is JSON, if its type is private or local, or
  /// does not exist in this program: read such values with `value(_:for:)`.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    recordingRead { try value(for: key) }
  }

  /// Returns the text of a key, whatever type was stored, or `nil` for a failure; `string(for:)`
  /// throws it.
  public func string(forKey key: PreferenceKey) -> String? {
    recordingRead { try string(for: key) }
  }

  /// Returns the bytes of a key, whatever type was stored, or `nil` for a failure; `data(for:)`
  /// throws it.
  public func data(forKey key: PreferenceKey) -> Data? { recordingRead { try data(for: key) } }

  /// Returns whether a key has a value, or `false` for a failure; `contains(_:)` throws it.
  public func hasObject(forKey key: PreferenceKey) -> Bool {
    recordingRead { try credential(for: key) } != nil
  }

  /// Returns the keys that can be read now, without the others; `allKeys()` throws instead.
  ///
  /// ``lastError`` reports whether there may be more.
  public func keys() -> [String] {
    let found = recording { try search() }
    if let incomplete = found?.incomplete { record(incomplete) }
    return found?.keys ?? []
  }

  /// Returns the values that can be read now, by their keys, without the others.
  ///
  /// ``lastError`` reports whether there may be more; `allKeys()` and `value(for:)` throw instead.
  public func dictionary() -> PreferencesDictionary {
    let found = recording { try search() }
    var failure = found?.incomplete
    var values: PreferencesDictionary = [:]
    for key in found?.keys ?? [] {
      do throws(KeychainError) {
        values[key] = try value(for: key)
      } catch { failure = error }
    }
    if let failure { record(failure) }
    return values
  }

  /// Sets the value of a key, and ignores a failure; `set(_:for:)` throws it.
  ///
  /// `nil` removes the key. After a failure, such as a locked vault, the old value stays. The
  /// subscripts and the setters of numbers, truth values and URLs call this method.
  public func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    recording { try set(value, for: key) }
  }

  /// Removes a key, and ignores a failure, after which the value stays; `removeValue(for:)` throws
  /// it.
  public func removeObject(forKey key: PreferenceKey) {
    recordingRead { try removeValue(for: key) ? true : nil }
  }

  /// Sets the values of several keys, and ignores a failure; `set(_:)` throws it.
  ///
  /// Other keys keep their values. After a failure, the vault has stored none of the values.
  public func set(dictionary: PreferencesDictionary) {
    recording { try set(withoutNulls(dictionary)) }
  }

  /// Removes all keys of this service (or server) and access group, and ignores a failure;
  /// `removeAll()` throws it.
  ///
  /// After a failure, all keys are still in the vault; other stores may have removed some.
  public func clearAll() { recording { try removeAll() } }

  /// The text of a key; a failure reads as `nil`, and is ignored by the setter.
  ///
  /// `string(for:)` and `set(_:for:)` throw. Setting `nil` removes the key.
  public subscript(string key: PreferenceKey) -> String? {
    get { string(forKey: key) }
    set { set(newValue as PreferenceObject?, forKey: key) }
  }

  /// The bytes of a key; a failure reads as `nil`, and is ignored by the setter.
  ///
  /// `data(for:)` and `set(_:for:)` throw. Setting `nil` removes the key.
  public subscript(data key: PreferenceKey) -> Data? {
    get { data(forKey: key) }
    set { set(newValue as PreferenceObject?, forKey: key) }
  }

  /// The credential of a key, or `nil` for a failure; `credential(for:)` throws it.
  public subscript(attribute key: PreferenceKey) -> Credential? {
    recordingRead { try credential(for: key) }
  }

  /// Records as ``lastError`` that a transformation refused a value.
  public func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    record(KeychainError(.invalidArgument, error.message))
  }

  @discardableResult
  private func recordingRead<Result>(_ body: () throws -> Result?) -> Result? {
    let result = recording(body)
    // Nothing failed, and there was no value.
    if case .some(.none) = result { state.withLock { $0.lastStatus = errSecItemNotFound } }
    return result ?? nil
  }

  @discardableResult
  private func recording<Result>(_ body: () throws -> Result) -> Result? {
    do {
      let result = try body()
      record(nil)
      return result
    } catch {
      record(keychainError(error))
      return nil
    }
  }

  private func record(_ error: KeychainError?) {
    state.withLock {
      $0.lastError = error
      $0.lastStatus = error?.status ?? errSecSuccess
    }
  }

  /// Not available: a misspelt member would store a credential.
  ///
  /// Other kinds of preferences have this subscript, and code that is generic over
  /// ``MutablePreferencesType`` can read and set values of the keychain with it. On the keychain
  /// itself, the compiler rejects unknown members.
  public subscript(dynamicMember key: PreferenceKey) -> PreferenceObject? {
    @available(
      *, unavailable,
      message: "KeychainPreferences has no such member; a value is keychain[\"key\"]"
    )
    get { self[key] }
    @available(
      *, unavailable,
      message: "KeychainPreferences has no such member; a value is keychain[\"key\"]"
    )
    set { self[key] = newValue }
  }
}

/// The keychain reports failures, such as a locked vault.
extension KeychainPreferences: FalliblePreferencesType {
  /// Returns the value of a key, as `value(for:)` does.
  ///
  /// - Throws: As `value(for:)`.
  public func fetchObject(forKey key: PreferenceKey) throws(KeychainError) -> PreferenceObject? {
    try value(for: key)
  }

  /// Returns all values by their keys.
  ///
  /// - Throws: As `allKeys()` and `value(for:)`.
  public func fetchDictionary() throws(KeychainError) -> PreferencesDictionary {
    var values: PreferencesDictionary = [:]
    for key in try allKeys() { values[key] = try value(for: key) }
    return values
  }

  /// Sets the value of a key, as `set(_:for:)` does; `nil` removes the key.
  ///
  /// - Throws: As `set(_:for:)`.
  public func storeObject(
    _ value: PreferenceObject?, forKey key: PreferenceKey
  ) throws(KeychainError) { try set(value, for: key) }

  /// Removes all keys, as `removeAll()` does.
  ///
  /// - Throws: As `removeAll()`.
  public func removeAllObjects() throws(KeychainError) { try removeAll() }
}

extension KeychainPreferences: ChangeReportingPreferences {
  package func observeChanges(_ handler: @escaping @Sendable () -> Void) -> PreferenceObservation {
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
