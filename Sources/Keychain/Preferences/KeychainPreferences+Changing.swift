internal import Dispatch
public import Foundation
internal import Glibc
public import KeychainCredentials

// Changing values that other tasks and programs change at the same time.
extension KeychainPreferences {
  /// Changes a value, and loses no change that somebody else makes at the same time.
  ///
  /// ```swift
  /// try keychain.update(Int.self, for: "logins") { count in count = (count ?? 0) + 1 }
  /// ```
  ///
  /// The value is read, changed, and written if it is still the one that was read; otherwise it is all done
  /// again. Label, comment, attributes and accessibility stay. If the closure leaves the value as it is,
  /// nothing is written.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - key: The key.
  ///   - expires: The change of the expiry; by default, it stays.
  ///   - deadline: How long to try again while others are faster.
  ///   - change: Changes the value, be it expired or not; `nil` stands for no value, before and after it. It
  ///     may be called several times, and what it throws ends the update.
  /// - Returns: The value as it is now.
  /// - Throws: What `change` throws; ``KeychainError``, such as ``KeychainError/Code/locked``, with
  ///   ``KeychainError/Code/undecodable`` if what is stored is no such value, or with
  ///   ``KeychainError/Code/timedOut`` if others were faster until the deadline. Then nothing was written.
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

  /// Changes a value, and loses no change that somebody else makes at the same time, without blocking.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - key: The key.
  ///   - expires: The change of the expiry; by default, it stays.
  ///   - deadline: How long to try again while others are faster.
  ///   - change: Changes the value; see the synchronous method.
  /// - Returns: The value as it is now.
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

/// A value that is to take the place of another one.
private struct Replacement: Sendable {
  let old: StoredItem?
  let credential: Credential
  let value: StoredValue?

  /// Writes the value; `false` if somebody was faster.
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
