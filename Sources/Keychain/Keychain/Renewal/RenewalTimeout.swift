internal import KeychainCredentials
internal import PrephirencesSystem

/// How long a call waits for a renewal, and its error after that.
struct RenewalTimeout: Sendable {
  let identity: CredentialIdentity

  /// The value that the caller gave.
  let duration: Duration

  private let deadline: Deadline

  init(_ identity: CredentialIdentity, after duration: Duration) {
    self.identity = identity
    self.duration = duration
    deadline = Deadline(after: duration)
  }

  var hasPassed: Bool { deadline.hasPassed }

  /// Waits for the end; returns `false` if the task was cancelled before.
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
