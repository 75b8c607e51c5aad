/// How the last reading of a collection went, and when it must be read again without a signal.
struct ListenerState {
  /// How reading went.
  enum Reading {
    case complete

    /// The collection is locked or missing: what was known of it is kept, and compared once it is there again.
    case hidden

    /// The provider lists too many items, or its replies are not valid: reading again would take as long and
    /// end in the same way.
    case unreadable

    /// The provider did not answer, or answered with another error.
    case missed

    /// The provider has ended.
    case undelivered

    init(failureOf operation: ServiceOperation) {
      self =
        switch operation.failure {
        case let failure? where failure.isUndelivered: .undelivered
        case let failure? where failure.isMissingObject: .hidden
        case .tooManyElements, .unexpectedType: .unreadable
        default: .missed
        }
    }
  }

  private(set) var reading = Reading.complete
  private var nextAttempt: ContinuousClock.Instant?
  private var pause = shortestPause

  static let shortestPause = Duration.seconds(1)
  static let longestPause = Duration.seconds(64)

  /// Whether all items that are known are those of the last signal; if not, the next one leads to a reading
  /// of all.
  var isCurrent: Bool { reading == .complete }

  mutating func note(_ reading: Reading, at now: ContinuousClock.Instant = .now) {
    self.reading = reading
    guard reading == .missed else {
      (nextAttempt, pause) = (nil, Self.shortestPause)
      return
    }
    // Signals lead to attempts of their own, which must not put off the next one.
    if let nextAttempt, now < nextAttempt { return }
    nextAttempt = now + pause
    pause = min(pause * 2, Self.longestPause)
  }

  /// Whether it is time to read all items again: after pauses that become longer while that fails.
  func mustReadAgain(at now: ContinuousClock.Instant = .now) -> Bool {
    nextAttempt.map { $0 <= now } ?? false
  }
}
