public import Foundation
public import KeychainCredentials

/// A value was renewed, and could not be stored.
///
/// The value is here, since the old one may be worth nothing any more: many servers accept a refresh token
/// once. Use it, or store it elsewhere. Neither a description of the error nor a dump of it shows the value.
public struct UnsavedValueError<Value: Sendable>: Error, Sendable {
  /// The renewed value, which is stored nowhere.
  public let value: Value

  /// What names the credential.
  public let identity: CredentialIdentity

  /// Why the value was not stored: a failure of the store; ``KeychainError/Code/versionConflict`` if
  /// somebody stored another value meanwhile, or ``KeychainError/Code/notFound`` if somebody removed it.
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

  /// What to do next, with actions as the names of the library's API.
  public var recoverySuggestion: String? {
    recovery.description
  }
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

  /// The same.
  public var debugDescription: String { description }

  /// What a dump shows: the reason, and no value.
  public var customMirror: Mirror {
    Mirror(self, children: ["identity": identity, "reason": reason])
  }
}
