/// A failure of a call to etcd.
package struct EtcdError: Error, Hashable, Sendable {
  package enum Code: Hashable, Sendable {
    /// The address, or a variable that completes it, cannot be used.
    case invalidAddress
    /// libcurl is not installed, or too old.
    case noLibrary
    /// No endpoint could be reached, or none has a leader.
    case unreachable
    /// The server's certificate, or the client's, is not accepted.
    case certificate
    /// The deadline has passed.
    case timedOut
    /// Name and password are not accepted.
    case wrongPassword
    /// The password cannot be read, for example because its file is missing.
    case passwordUnavailable
    /// The user may not read or change these keys.
    case permissionDenied
    /// The database of the cluster is full.
    case noSpace
    /// The request is larger than the cluster accepts.
    case tooLarge
    /// The revision was compacted, or is in the future, or changes were not taken in time.
    case compacted
    /// The call was ended by its ``EtcdCancellation``.
    case cancelled
    /// The lease is not there, or has ended.
    case notFound
    /// This process was forked from one that uses the client.
    case forked
    /// The answer is not one of etcd's, or the request was refused as malformed.
    case protocolViolation
  }

  package let code: Code
  /// What failed, without a capital letter or full stop, and without a value or password.
  package let message: String
  /// Whether a change may have happened nevertheless; always `false` for reads.
  package let mayHaveHappened: Bool

  package init(_ code: Code, _ message: String, mayHaveHappened: Bool = false) {
    self.code = code
    self.message = message
    self.mayHaveHappened = mayHaveHappened
  }

  /// The same failure, of a change that may or cannot have happened.
  func happening(_ mayHaveHappened: Bool) -> EtcdError {
    EtcdError(code, message, mayHaveHappened: mayHaveHappened)
  }
}
