internal import KeychainCredentials
internal import PrephirencesFiles

/// How long a call waits for a renewal, and what it throws then.
struct RenewalTimeout: Sendable {
  let identity: CredentialIdentity

  /// As the caller gave it.
  let duration: Duration

  private let deadline: Deadline

  init(_ identity: CredentialIdentity, after duration: Duration) {
    self.identity = identity
    self.duration = duration
    deadline = Deadline(after: duration)
  }

  var hasPassed: Bool { deadline.hasPassed }

  /// Waits for the end; `false` if the task was cancelled before it.
  func sleep() async -> Bool {
    (try? await Task.sleep(until: deadline.end, clock: .continuous)) != nil
  }

  /// The failure of who waited for another's renewal.
  var renewedElsewhere: KeychainError {
    KeychainError(
      .timedOut, "another task or program was renewing \(identity) for longer than \(duration)",
      recovery: "try again, or end a program that was stopped while it renewed it")
  }

  /// The failure of who waited for an answer.
  var tookTooLong: KeychainError {
    KeychainError(
      .timedOut, "renewing \(identity) took longer than \(duration)", recovery: .tryAgain)
  }
}
