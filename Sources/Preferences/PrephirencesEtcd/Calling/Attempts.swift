internal import PrephirencesSystem

/// Decides whether a request is tried again.
struct Attempts {
  private let endpoints: Int
  private var failures = 0
  private var logins = 0
  /// What the endpoints said last, the newest at the end.
  private var round: [Refusal] = []

  init(_ endpoints: Int) { self.endpoints = max(endpoints, 1) }

  /// Returns if the request should be tried again, after a pause if all endpoints failed.
  mutating func allow(
    _ refusal: Refusal, _ deadline: Deadline, _ cancellation: EtcdCancellation?
  ) throws(EtcdError) {
    switch refusal.remedy {
    case .none, .noLogin: throw refusal.error
    case .newLogin:
      logins += 1
      guard logins == 1, !deadline.hasPassed else { throw refusal.error }
    case .otherEndpoint, .later:
      let isOver = endsRound(refusal)
      failures += 1
      // That time is over says less than why the last attempt failed.
      if refusal.error.code != .timedOut || round.isEmpty {
        round = (round + [refusal]).suffix(endpoints)
      }
      guard !deadline.hasPassed, !isFinal(refusal) else { throw failure }
      guard isOver else { return }
      // With jitter, so that many machines don't ask at the same time.
      let milliseconds = min(1000, 25 << min(failures / endpoints, 8))
      let pause = Deadline(after: .milliseconds(Int.random(in: milliseconds / 2...milliseconds)))
      _ = try Waiting().wait(pause.limited(by: deadline), cancellation)
      // What is sent now, nobody would hear of.
      guard !deadline.hasPassed else { throw failure }
    }
  }

  /// Whether all endpoints have failed with this one.
  func endsRound(_ refusal: Refusal) -> Bool {
    (refusal.remedy == .otherEndpoint || refusal.remedy == .later)
      && (failures + 1) % endpoints == 0
  }

  /// Whether another round is of no use: a person must mend something, or it was the second.
  private func isFinal(_ refusal: Refusal) -> Bool {
    guard refusal.remedy == .otherEndpoint else { return false }
    let needsPerson =
      round.contains { $0.error.code == .certificate }
      && !round.contains { $0.remedy == .later }
    return failures >= (needsPerson ? endpoints : 2 * endpoints)
  }

  /// What the endpoints said, of which a person can mend the first.
  ///
  /// The same failures give the same text, whichever endpoint was asked first.
  private var failure: EtcdError {
    var known: [EtcdError] = []
    for refusal in round where !known.contains(where: { $0.message == refusal.error.message }) {
      known.append(refusal.error)
    }
    known.sort { ($0.code.urgency, $0.message) < ($1.code.urgency, $1.message) }
    guard let first = known.first, known.count > 1 else { return known.first ?? .timedOut }
    var others = known.dropFirst().prefix(4).map { String($0.message.prefix(200)) }
    if known.count > 5 { others.append("and \(known.count - 5) more") }
    return EtcdError(
      first.code, "\(first.message); other endpoints: \(others.joined(separator: "; "))",
      mayHaveHappened: known.contains { $0.mayHaveHappened })
  }
}

extension EtcdError.Code {
  /// The least is reported first: what doesn't pass by itself.
  fileprivate var urgency: Int {
    switch self {
    case .timedOut: 3
    case .unreachable: 2
    case .protocolViolation: 1
    default: 0
    }
  }
}
