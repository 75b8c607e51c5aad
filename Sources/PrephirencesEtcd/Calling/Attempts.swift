internal import PrephirencesFiles

/// Decides whether a request is tried again.
struct Attempts {
  private let endpoints: Int
  private var failures = 0
  private var logins = 0
  /// Why the last attempt failed, which says more than that time is over.
  private var reason: EtcdError?

  init(_ endpoints: Int) { self.endpoints = max(endpoints, 1) }

  /// Returns if the request should be tried again, after a pause if all endpoints failed.
  mutating func allow(
    _ refusal: Refusal, _ deadline: Deadline, _ cancellation: EtcdCancellation?
  ) throws(EtcdError) {
    if refusal.error.code == .timedOut, !refusal.error.mayHaveHappened, let reason { throw reason }
    reason = refusal.error
    guard !deadline.hasPassed else { throw refusal.error }
    switch refusal.remedy {
    case .none, .noLogin: throw refusal.error
    case .newLogin:
      logins += 1
      guard logins == 1 else { throw refusal.error }
    case .otherEndpoint, .later:
      failures += 1
      if refusal.remedy == .otherEndpoint, failures >= 2 * endpoints { throw refusal.error }
      guard failures % endpoints == 0 else { return }
      // With jitter, so that many machines don't ask at the same time.
      let milliseconds = min(1000, 25 << min(failures / endpoints, 8))
      let pause = Deadline(after: .milliseconds(Int.random(in: milliseconds / 2...milliseconds)))
      _ = try Waiting().wait(pause.limited(by: deadline), cancellation)
      // What is sent now, nobody would hear of.
      guard !deadline.hasPassed else { throw refusal.error }
    }
  }
}
