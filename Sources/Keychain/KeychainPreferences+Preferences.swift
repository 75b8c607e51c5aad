public import Foundation
public import KeychainCredentials
public import Prephirences
internal import Synchronization

// The preference protocols. A failure is told by `lastError` and `lastStatus`, and reads as `nil`;
// nothing is ever written because of it.
extension KeychainPreferences {
  /// The failure of the last call that does not throw, on any thread; `nil` if it succeeded.
  ///
  /// A key without a value is no failure. For a program whose threads share these preferences the
  /// methods that throw are the better choice.
  public var lastError: KeychainError? { state.withLock(\.lastError) }

  /// The status of the last call that does not throw, on any thread, as a number of Apple's
  /// keychain; `nil` before the first.
  ///
  /// It is `errSecItemNotFound` if the key has no value.
  public var lastStatus: OSStatus? { state.withLock(\.lastStatus) }

  /// Returns the value of a key, of the type that was stored.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    recordingRead { () throws(KeychainError) in try value(for: key) }
  }

  /// Returns the text of a key, whatever was stored.
  public func string(forKey key: PreferenceKey) -> String? {
    recordingRead { () throws(KeychainError) in try string(for: key) }
  }

  /// Returns the bytes of a key, whatever was stored.
  public func data(forKey key: PreferenceKey) -> Data? {
    recordingRead { () throws(KeychainError) in try data(for: key) }
  }

  /// Returns whether a key has a value, without reading the secret.
  public func hasObject(forKey key: PreferenceKey) -> Bool {
    recordingRead { () throws(KeychainError) in try credential(for: key) } != nil
  }

  /// Returns the keys that can be read now; ``lastError`` says whether there may be more.
  public func keys() -> [String] {
    let found = recording { () throws(KeychainError) in try search() }
    if let incomplete = found?.incomplete { record(incomplete) }
    return found?.keys ?? []
  }

  /// Returns the values that can be read now; ``lastError`` says whether there may be more.
  public func dictionary() -> PreferencesDictionary {
    let found = recording { () throws(KeychainError) in try search() }
    var failure = found?.incomplete
    var values: PreferencesDictionary = [:]
    for key in found?.keys ?? [] {
      do throws(KeychainError) {
        values[key] = try value(for: key)
      } catch {
        failure = error
      }
    }
    if let failure { record(failure) }
    return values
  }

  /// Sets the value of a key; `nil` removes.
  public func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    recording { () throws(KeychainError) in try set(value, for: key) }
  }

  /// Removes a key with its value.
  public func removeObject(forKey key: PreferenceKey) {
    recordingRead { () throws(KeychainError) in try removeValue(for: key) ? true : nil }
  }

  /// Removes all keys of this service (or server) and access group.
  public func clearAll() {
    recording { () throws(KeychainError) in try removeAll() }
  }

  /// The text of a key; setting `nil` removes.
  ///
  /// - Parameter key: The key.
  public subscript(string key: PreferenceKey) -> String? {
    get { string(forKey: key) }
    set { set(newValue as PreferenceObject?, forKey: key) }
  }

  /// The bytes of a key; setting `nil` removes.
  ///
  /// - Parameter key: The key.
  public subscript(data key: PreferenceKey) -> Data? {
    get { data(forKey: key) }
    set { set(newValue as PreferenceObject?, forKey: key) }
  }

  /// What is known about the value of a key.
  ///
  /// - Parameter key: The key.
  public subscript(attribute key: PreferenceKey) -> Credential? {
    recordingRead { () throws(KeychainError) in try credential(for: key) }
  }

  @discardableResult
  private func recordingRead<Result>(
    _ body: () throws(KeychainError) -> Result?
  ) -> Result? {
    let result = recording(body)
    // Nothing failed, and nothing was there.
    if case .some(.none) = result {
      state.withLock { $0.lastStatus = errSecItemNotFound }
    }
    return result ?? nil
  }

  @discardableResult
  private func recording<Result>(_ body: () throws(KeychainError) -> Result) -> Result? {
    do throws(KeychainError) {
      let result = try body()
      record(nil)
      return result
    } catch {
      record(error)
      return nil
    }
  }

  private func record(_ error: KeychainError?) {
    state.withLock {
      $0.lastError = error
      $0.lastStatus = error?.status ?? errSecSuccess
    }
  }
}
