internal import Foundation
internal import Glibc

/// What the threads of a worker tell each other.
///
/// Unchecked because the condition guards the state.
final class SyncSignals: @unchecked Sendable {
  struct State {
    var isStopping = false
    var threads = 0

    /// How often the file, and who has the lock, may have changed, and how often retries were asked
    /// for.
    var fileChanges = 0
    var lockChanges = 0
    var wakes = 0
    /// How often somebody began to wait for acknowledgements.
    var flushes = 0

    /// Whether the session with the engine ends.
    var isEnding = false
    var sessionThreads = 0
    /// The revision that the receiver has applied.
    var received: Int64 = 0
    /// Whether the file was compared with everything that the engine has, on this connection.
    var isInStep = false
    /// How often everything was asked for anew, and which of these requests was answered last.
    var readings = 0
    var lastReading = 0

    /// Since when each thread works without waiting for others, without the time of sleep.
    fileprivate var work: [UInt: SuspendingClock.Instant] = [:]
  }

  private let condition = NSCondition()
  private var state = State()

  func read<Result>(_ body: (State) -> Result) -> Result {
    condition.withLock { body(state) }
  }

  func change<Result>(_ body: (inout State) -> Result) -> Result {
    condition.withLock {
      defer { condition.broadcast() }
      return body(&state)
    }
  }

  /// Waits until a condition is met, at most so long.
  ///
  /// - Returns: Whether it is met.
  @discardableResult
  func wait(_ duration: Duration?, until isMet: (State) -> Bool) -> Bool {
    let end = duration.map { ContinuousClock.now + $0 }
    return condition.withLock {
      let works = state.work.removeValue(forKey: Self.thread) != nil
      defer { if works { state.work[Self.thread] = .now } }
      while !isMet(state) {
        guard let end else {
          condition.wait()
          continue
        }
        let rest = ContinuousClock.now.duration(to: end) / .seconds(1)
        guard rest > 0 else { return false }
        // The condition's clock is that of the day, which may be set.
        _ = condition.wait(until: Date(timeIntervalSinceNow: min(rest, 5)))
      }
      return true
    }
  }

  // MARK: - Progress

  private static var thread: UInt { UInt(pthread_self()) }

  /// This thread gets on: it begins, or has an answer.
  func advance() { condition.withLock { state.work[Self.thread] = .now } }

  /// This thread ends, or waits for what has no limit of time.
  func rest() { condition.withLock { state.work[Self.thread] = nil } }

  /// Whether a thread has neither ended nor got an answer for longer than a limit.
  func isHung(after limit: Duration) -> Bool {
    let now = SuspendingClock.now
    return condition.withLock { state.work.values.contains { $0.duration(to: now) > limit } }
  }
}
