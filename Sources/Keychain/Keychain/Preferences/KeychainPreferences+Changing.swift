internal import Dispatch
public import Foundation
internal import Glibc
public import KeychainCredentials

// Changes values that other tasks and programs may change at the same time.
extension KeychainPreferences {
  /// Changes a value, and loses no change that others make at the same time.
  ///
  /// ```swift
  /// try keychain.update(Int.self, for: "logins") { count in count = (count ?? 0) + 1 }
  /// ```
  ///
  /// The value is read, changed, and written if it is still the one that was read; otherwise, all
  /// steps are repeated. Label, comment, attributes and accessibility stay. If the closure does not
  /// change the value, nothing is written.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - key: The key.
  ///   - expires: The change of the expiry; by default, it stays.
  ///   - deadline: How long to retry while others keep changing the value.
  ///   - change: Changes the value, whether it has expired or not; `nil` means no value, both
  ///     before and after. It may be called several times. If it throws, the update ends.
  /// - Returns: The new value.
  /// - Throws: What `change` throws; ``KeychainError``, such as ``KeychainError/Code/locked``, with
  ///   ``KeychainError/Code/undecodable`` if the stored value has another type, or with
  ///   ``KeychainError/Code/timedOut`` if others kept changing the value until the deadline. Then
  ///   nothing was written.
  @discardableResult
  public func update<Value: Codable>(
    _ type: Value.Type, for key: String, expires: FieldChange<Date> = .keep,
    deadline: Duration = .seconds(10), _ change: (inout Value?) throws -> Void
  ) throws -> Value? {
    let identity = identity(for: key)
    let start = ContinuousClock.now
    while true {
      let old = try store.item(identity)
      var value = try old?.value.value(as: type)
      try change(&value)
      let new = try replacement(value, for: old, identity, expires)
      guard try !new.isWritten(to: store) else { return value }
      guard .now - start < deadline else {
        throw KeychainError.changedTooOften(identity, for: deadline)
      }
      usleep(.random(in: 500...10_000))
    }
  }

  /// Changes a value, and loses no change that others make at the same time, without blocking.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - key: The key.
  ///   - expires: The change of the expiry; by default, it stays.
  ///   - deadline: How long to retry while others keep changing the value.
  ///   - change: Changes the value; see the synchronous method.
  /// - Returns: The new value.
  /// - Throws: As the synchronous method, or ``KeychainError`` with ``KeychainError/Code/cancelled``.
  @discardableResult
  public func update<Value: Codable>(
    _ type: Value.Type, for key: String, expires: FieldChange<Date> = .keep,
    deadline: Duration = .seconds(10), _ change: (inout Value?) throws -> Void
  ) async throws -> Value? {
    let identity = identity(for: key)
    let start = ContinuousClock.now
    while true {
      let old = try await onWorkerThread { keychain throws(KeychainError) in
        try keychain.store.item(identity)
      }
      var value = try old?.value.value(as: type)
      try change(&value)
      let new = try replacement(value, for: old, identity, expires)
      let isWritten = try await onWorkerThread { keychain throws(KeychainError) in
        try new.isWritten(to: keychain.store)
      }
      guard !isWritten else { return value }
      guard .now - start < deadline else {
        throw KeychainError.changedTooOften(identity, for: deadline)
      }
      try? await Task.sleep(for: .microseconds(.random(in: 500...10_000)))
    }
  }

  private func replacement<Value: Codable>(
    _ value: Value?, for old: StoredItem?, _ identity: CredentialIdentity,
    _ expires: FieldChange<Date>
  ) throws(KeychainError) -> Replacement {
    let stored = try value.map { value throws(KeychainError) in try StoredValue(encoding: value) }
    let update = CredentialUpdate(
      contentType: FieldChange(to: stored?.contentType), expires: expires)
    let credential = old?.credential ?? Credential(identity, accessibility: accessibility)
    return Replacement(old: old, credential: update.applied(to: credential), value: stored)
  }
}

/// A value that replaces another one.
private struct Replacement: Sendable {
  let old: StoredItem?
  let credential: Credential
  let value: StoredValue?

  /// Writes the value; returns `false` if the stored value was changed meanwhile.
  func isWritten(to store: any CredentialStore) throws(KeychainError) -> Bool {
    do throws(KeychainError) {
      if changesSomething { try store.replace(old, credential, by: value) }
      return true
    } catch {
      guard error.isConflict else { throw error }
      return false
    }
  }

  private var changesSomething: Bool {
    guard let old, let value else { return old != nil || value != nil }
    return !old.value.isSame(as: value) || old.credential.expires != credential.expires
  }
}
