internal import Dispatch
public import FoundationEssentials
public import KeychainCredentials
internal import PrephirencesSystem

// Values that are renewed before use, such as tokens. See the article RenewingTokens.
extension KeychainPreferences {
  /// Returns a valid value, and renews it if needed: once, however many tasks and programs of the
  /// user need it at the same time.
  ///
  /// ```swift
  /// let tokens = try await keychain.value(
  ///   Tokens.self, for: "api", validWhile: { $0.expires > .now + 60 }
  /// ) { old in try await server.refresh(old?.refreshToken) }
  /// ```
  ///
  /// A valid value is returned at once, whatever the expiry of its credential. Otherwise one task
  /// locks the credential, reads it again, and renews it; the others wait for the stored result.
  /// The lock of a process ends with the process. See <doc:RenewingTokens>.
  ///
  /// - Parameters:
  ///   - expires: The expiry of the credential of a renewed value; none by default. Label, comment,
  ///     attributes and accessibility stay.
  ///   - isValid: Whether a value can still be used. A renewed value is returned without this
  ///     check.
  ///   - deadline: How long to wait for others and for `renew`. Then the task that runs `renew` is
  ///     cancelled; if it still returns a value, that is stored.
  ///   - renew: Returns a new value for the stored one, which is `nil` if there is none. It runs in
  ///     its own task, which is cancelled when nobody in this process waits for it any more. It
  ///     must not ask for the same credential with this method: it would wait for itself.
  /// - Throws: The error of `renew`, for all tasks of this process that wait for it, while other
  ///   processes then try themselves; ``UnsavedValueError`` with the new value if it could not be
  ///   stored; or ``KeychainError``, such as ``KeychainError/Code/locked``, with
  ///   ``KeychainError/Code/timedOut``, ``KeychainError/Code/cancelled``, or
  ///   ``KeychainError/Code/undecodable`` if the stored value has another type. Before `renew` is
  ///   called, a write checks that the store is writable; if there is no value yet, only that the
  ///   store is available and unlocked.
  public func value<Value: Codable & Sendable>(
    _ type: Value.Type, for key: String,
    expires: @escaping @Sendable (Value) -> Date? = { _ in nil },
    validWhile isValid: @escaping @Sendable (Value) -> Bool, deadline: Duration = .seconds(60),
    renew: @escaping @Sendable (Value?) async throws -> Value
  ) async throws -> Value {
    let item = RenewableItem<Value>(self, key)
    let deadline = RenewalTimeout(item.identity, after: deadline)
    while true {
      let current = try await store.perform { _ in try item.current() }
      if let value = current.value, isValid(value) { return value }
      let (renewal, number) = SharedRenewals.join(item, of: self, limit: deadline) { renewal in
        try await item.renewed(in: renewal, expires, isValid, renew)
      }
      if let outcome = try await renewal.outcome(for: number, within: deadline),
        outcome.isNew || isValid(outcome.value)
      {
        return outcome.value
      }
      guard !deadline.hasPassed else { throw renewal.failure(deadline) }
    }
  }

  /// Returns a valid value as the asynchronous method does, but blocks the calling thread.
  ///
  /// Asynchronous code calls ``value(_:for:expires:validWhile:deadline:renew:)``. The deadline does
  /// not end `renew`: limit the time of its requests.
  ///
  /// - Throws: As the asynchronous method, except that if `renew` throws, other waiting callers try
  ///   themselves.
  @available(*, noasync, message: "await value(_:for:validWhile:renew:) instead")
  public func waitForValue<Value: Codable & Sendable>(
    _ type: Value.Type, for key: String, expires: (Value) -> Date? = { _ in nil },
    validWhile isValid: (Value) -> Bool, deadline: Duration = .seconds(60),
    renew: (Value?) throws -> Value
  ) throws -> Value {
    let item = RenewableItem<Value>(self, key)
    let deadline = RenewalTimeout(item.identity, after: deadline)
    if let value = try item.current().value, isValid(value) { return value }
    let lock = try RenewalLock(item.identity, in: store)
    try lock.wait(within: deadline)
    defer { extendLifetime(lock) }
    switch try item.need(isValid) {
    case .none(let value): return value
    case .renewal(let old):
      let new = try renew(old.value)
      return try item.save(new, expires: expires(new), replacing: old, isValid)
    }
  }
}

extension RenewableItem {
  /// Renews the value under the lock, unless another task has renewed it in the meantime.
  ///
  /// After `renew` has returned, only an error of the store can prevent that the value is stored.
  fileprivate func renewed(
    in renewal: SharedRenewal<Value>, _ expires: @escaping @Sendable (Value) -> Date?,
    _ isValid: @escaping @Sendable (Value) -> Bool,
    _ renew: @Sendable (Value?) async throws -> Value
  ) async throws -> SharedRenewal<Value>.Outcome {
    let lock = try await onOwnThread { try RenewalLock(identity, in: store) }
    try await lock.wait()
    defer { extendLifetime(lock) }
    switch try await onOwnThread({ try need(isValid) }) {
    case .none(let value): return SharedRenewal.Outcome(value: value, isNew: false)
    case .renewal(let old):
      try Task.checkCancellation()
      renewal.beginRenewing()
      let new = try await renew(old.value)
      let saved = try await onOwnThread {
        try save(new, expires: expires(new), replacing: old, isValid)
      }
      return SharedRenewal.Outcome(value: saved, isNew: true)
    }
  }

  /// Does work on another thread, even if the task was cancelled.
  private func onOwnThread<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Swift.Result { try work() }) }
    }
  }
}

/// The error for a renewed value that could not be stored.
///
/// It contains the value, because the old one may be useless: many servers accept a refresh token
/// only once. Use it, or store it elsewhere. Neither a description of the error nor a dump of it
/// shows the value.
public struct UnsavedValueError<Value: Sendable>: Error, Sendable {
  /// The renewed value, which is not stored.
  public let value: Value

  /// The identity of the credential.
  public let identity: CredentialIdentity

  /// Why the value was not stored.
  ///
  /// It is an error of the store; ``KeychainError/Code/versionConflict`` if another program stored
  /// a different value in the meantime, or ``KeychainError/Code/notFound`` if another program
  /// removed it.
  public let reason: KeychainError

  init(_ value: Value, _ identity: CredentialIdentity, _ reason: KeychainError) {
    self.value = value
    self.identity = identity
    self.reason = reason
  }
}

extension UnsavedValueError: LocalizedError {
  /// What failed.
  public var errorDescription: String? {
    "\(identity) was renewed, and the new value could not be stored: \(reason.message)"
  }

  /// What to do next.
  public var recovery: KeychainError.Recovery {
    reason.recovery ?? "sign in again if the old value is no longer accepted"
  }

  /// What to do next, with actions named as the library's API.
  public var recoverySuggestion: String? { recovery.description }
}

extension UnsavedValueError: KeychainFailure {
  package var failure: KeychainError {
    KeychainError(
      reason.code, errorDescription ?? reason.message, recovery: recovery,
      underlying: reason.underlying)
  }
}

extension UnsavedValueError: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// What failed, and what to do next, without the value.
  public var description: String {
    [errorDescription, recoverySuggestion.map { "(\($0))" }].compactMap(\.self)
      .joined(separator: " ")
  }

  /// The same as ``description``.
  public var debugDescription: String { description }

  /// The contents of a dump: the reason, but not the value.
  public var customMirror: Mirror {
    Mirror(self, children: ["identity": identity, "reason": reason])
  }
}

/// The time limit of a call that waits for a renewal, and the error after it.
struct RenewalTimeout: Sendable {
  let identity: CredentialIdentity

  /// The caller's limit.
  let duration: Duration

  private let deadline: Deadline

  init(_ identity: CredentialIdentity, after duration: Duration) {
    self.identity = identity
    self.duration = duration
    deadline = Deadline(after: duration)
  }

  var hasPassed: Bool { deadline.hasPassed }

  /// Waits until the end of the time; `false` if the task was cancelled before.
  func sleep() async -> Bool {
    (try? await Task.sleep(until: deadline.end, clock: .continuous)) != nil
  }

  /// The error after waiting for another task's renewal.
  var renewedElsewhere: KeychainError {
    KeychainError(
      .timedOut, "another task or program was renewing \(identity) for longer than \(duration)",
      recovery: "try again, or end a program that was stopped while it renewed it")
  }

  /// The error after waiting for `renew`.
  var tookTooLong: KeychainError {
    KeychainError(
      .timedOut, "renewing \(identity) took longer than \(duration)", recovery: .tryAgain)
  }
}
