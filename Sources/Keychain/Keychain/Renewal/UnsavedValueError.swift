public import Foundation
public import KeychainCredentials

/// A value was renewed, but could not be stored.
///
/// The error holds the value, because the old one may be useless: many servers accept a refresh
/// token only once. Use it, or store it elsewhere. Neither a description of the error nor a dump of
/// it shows the value.
public struct UnsavedValueError<Value: Sendable>: Error, Sendable {
  /// The renewed value, which is not stored.
  public let value: Value

  /// The identity of the credential.
  public let identity: CredentialIdentity

  /// Why the value was not stored: an error of the store; ``KeychainError/Code/versionConflict`` if
  /// another program stored a different value meanwhile, or ``KeychainError/Code/notFound`` if
  /// another program removed it.
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

  /// The same as ``description``.
  public var debugDescription: String { description }

  /// What a dump shows: the reason, but not the value.
  public var customMirror: Mirror {
    Mirror(self, children: ["identity": identity, "reason": reason])
  }
}
