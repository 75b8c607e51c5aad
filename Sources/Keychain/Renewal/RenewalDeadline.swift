internal import KeychainCredentials

/// How long a call waits for a renewal, and what it throws then.
struct RenewalDeadline: Sendable {
  let identity: CredentialIdentity

  /// As the caller gave it.
  let duration: Duration

  let end: ContinuousClock.Instant

  init(_ identity: CredentialIdentity, after duration: Duration) {
    self.identity = identity
    self.duration = duration
    // The clock cannot be waited for without limit; this is about a century.
    end = .now + min(duration, .seconds(3_000_000_000))
  }

  var hasPassed: Bool { ContinuousClock.now >= end }

  /// Waits for the end; `false` if the task was cancelled before it.
  func sleep() async -> Bool {
    (try? await Task.sleep(until: end, clock: .continuous)) != nil
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
