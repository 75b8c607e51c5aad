/// The result of the last reading of a collection, and when it must be read again without a signal.
struct ListenerState {
  /// The result of a reading.
  enum Reading {
    case complete

    /// The collection is locked or missing: the known items are kept, and compared when it is
    /// available again.
    case hidden

    /// The provider lists too many items, or sends invalid or too large replies: reading again would
    /// fail in the same way.
    case unreadable

    /// The provider did not answer, or returned another error.
    case missed

    /// The provider has ended.
    case undelivered

    init(failureOf operation: ServiceOperation) {
      self =
        switch operation.failure {
        case let failure? where failure.isUndelivered: .undelivered
        case let failure? where failure.isMissingObject: .hidden
        case .tooManyElements, .tooLarge, .unexpectedType: .unreadable
        default: .missed
        }
    }
  }

  private(set) var reading = Reading.complete
  private var nextAttempt: ContinuousClock.Instant?
  private var pause = shortestPause

  static let shortestPause = Duration.seconds(1)
  static let longestPause = Duration.seconds(64)

  /// Whether the known items are up to date with the last signal; if not, the next one causes a
  /// reading of all items.
  var isCurrent: Bool { reading == .complete }

  mutating func note(_ reading: Reading, at now: ContinuousClock.Instant = .now) {
    self.reading = reading
    guard reading == .missed else {
      (nextAttempt, pause) = (nil, Self.shortestPause)
      return
    }
    // Signals cause their own attempts, which must not delay the next scheduled one.
    if let nextAttempt, now < nextAttempt { return }
    nextAttempt = now + pause
    pause = min(pause * 2, Self.longestPause)
  }

  /// Returns whether all items must be read again now: after pauses that grow while reading fails.
  func mustReadAgain(at now: ContinuousClock.Instant = .now) -> Bool {
    nextAttempt.map { $0 <= now } ?? false
  }
}
