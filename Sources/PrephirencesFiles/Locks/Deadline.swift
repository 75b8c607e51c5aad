internal import Glibc
internal import Synchronization

/// The moment by which a call must have ended.
///
/// All who hold the object share it: the time that ``excluding(_:)`` leaves out is left out for them all.
package final class Deadline: Sendable {
  private let instant: Mutex<ContinuousClock.Instant>

  /// Any duration will do: one of more than about a century counts as that.
  package convenience init(after duration: Duration) {
    // The clock cannot be waited for without limit.
    self.init(.now + min(duration, .seconds(3_000_000_000)))
  }

  private init(_ instant: ContinuousClock.Instant) { self.instant = Mutex(instant) }

  package var hasPassed: Bool { ContinuousClock.now >= end }

  /// The moment itself, as it is now.
  package var end: ContinuousClock.Instant { instant.withLock { $0 } }

  /// The seconds that are left, zero at least.
  package var seconds: Double { max(0, ContinuousClock.now.duration(to: end) / .seconds(1)) }

  /// The milliseconds that are left, rounded up, as `poll` and GLib take them: 1 at least.
  package var milliseconds: CInt { CInt(clamping: max(1, Int((seconds * 1000).rounded(.up)))) }

  /// Another deadline, which passes this much later.
  package func postponed(by duration: Duration) -> Deadline { Deadline(end + duration) }

  /// Another deadline, which passes when this one or the other does.
  package func limited(by other: Deadline) -> Deadline { Deadline(min(end, other.end)) }

  /// Runs what may ask a person, and postpones the deadline by the time it takes.
  package func excluding<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let start = ContinuousClock.now
    defer { instant.withLock { $0 += .now - start } }
    return try body()
  }

  /// Waits a moment, a little different each time so that waiters don't wake together.
  package static func pause(upTo milliseconds: UInt32 = 10) {
    usleep(.random(in: 500...(milliseconds * 1000)))
  }
}
