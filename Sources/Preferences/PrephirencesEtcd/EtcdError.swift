internal import PrephirencesSystem

/// A failure of a call to etcd.
package struct EtcdError: Error, Hashable, Sendable {
  package enum Code: Hashable, Sendable {
    /// The address, or a variable that completes it, is not valid.
    case invalidAddress
    /// libcurl is not installed, or too old.
    case noLibrary
    /// No endpoint can be reached, or none has a leader.
    case unreachable
    /// The certificate of the server or of the client is not accepted.
    case certificate
    /// The deadline has passed.
    case timedOut
    /// The user name and password are not accepted.
    case wrongPassword
    /// The password cannot be read; for example, its file is missing.
    case passwordUnavailable
    /// The user may not read or change these keys.
    case permissionDenied
    /// The database of the cluster is full.
    case noSpace
    /// The request is larger than the cluster accepts.
    case tooLarge
    /// The revision was compacted or is in the future, or changes were read too slowly.
    case compacted
    /// An ``EtcdCancellation`` has ended the call.
    case cancelled
    /// The lease does not exist or has expired.
    case notFound
    /// This process was forked from one that uses the client.
    case forked
    /// The answer is not from etcd, or etcd has refused the request as malformed.
    case protocolViolation
  }

  package let code: Code
  /// What failed, without a capital letter, full stop, value or password.
  package let message: String
  /// Whether a change may have happened anyway; always `false` for reads.
  package let mayHaveHappened: Bool

  /// What the client itself can try.
  var remedy = Remedy.none

  package init(_ code: Code, _ message: String, mayHaveHappened: Bool = false) {
    self.code = code
    self.message = message
    self.mayHaveHappened = mayHaveHappened
  }

  /// The same failure with another outcome of the change.
  func happening(_ mayHaveHappened: Bool) -> EtcdError {
    EtcdError(code, message, mayHaveHappened: mayHaveHappened, remedy: remedy)
  }
}

extension EtcdError {
  static let cancelled = EtcdError(.cancelled, "the call was cancelled")
  static let timedOut = EtcdError(.timedOut, "etcd did not answer in time")
}

extension ForkMark {
  /// A child process must not use its parent's connection.
  static let etcd = ForkMark()
}

extension EtcdError {
  static let forked = EtcdError(
    .forked,
    "this process was forked from one that uses etcd; use it in a process that was started by exec")
}
