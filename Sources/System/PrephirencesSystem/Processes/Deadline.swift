internal import Glibc

/// The time by which a call must end.
///
/// All holders of the object share it: time that ``excluding(_:)`` leaves out is left out for all
/// of them.
package final class Deadline: Sendable {
  private let instant: PosixMutex<ContinuousClock.Instant>

  /// Creates a deadline; durations above about a century are shortened to that.
  package convenience init(after duration: Duration) {
    // The clock cannot wait without limit.
    self.init(.now + min(duration, .seconds(3_000_000_000)))
  }

  private init(_ instant: ContinuousClock.Instant) { self.instant = PosixMutex(instant) }

  package var hasPassed: Bool { ContinuousClock.now >= end }

  /// The time, as it is now.
  package var end: ContinuousClock.Instant { instant.withLock { $0 } }

  /// The remaining seconds, at least 0.
  package var seconds: Double { max(0, ContinuousClock.now.duration(to: end) / .seconds(1)) }

  /// The remaining time, at least 0.
  package var left: Duration { .seconds(seconds) }

  /// The remaining milliseconds, rounded up, for `poll` and GLib: at least 1.
  package var milliseconds: CInt { CInt(clamping: max(1, Int((seconds * 1000).rounded(.up)))) }

  /// Returns another deadline, which ends later by `duration`.
  package func postponed(by duration: Duration) -> Deadline { Deadline(end + duration) }

  /// Returns another deadline, which ends with the earlier of the two.
  package func limited(by other: Deadline) -> Deadline { Deadline(min(end, other.end)) }

  /// Runs code that may ask a person, and postpones the deadline by its duration.
  package func excluding<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let start = ContinuousClock.now
    defer { instant.withLock { $0 += .now - start } }
    return try body()
  }

  /// Waits until a descriptor has something to read, or has ended.
  ///
  /// - Returns: `false` at the deadline.
  package func awaitInput(_ descriptor: CInt) -> Bool {
    var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while !hasPassed {
      if unsafe poll(&source, 1, milliseconds) > 0 { return true }
    }
    return false
  }

  /// Waits until a descriptor takes something, or fails; looks once after the deadline, too.
  ///
  /// - Returns: `false` at the deadline.
  package func awaitOutput(_ descriptor: CInt) -> Bool {
    var target = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    repeat {
      if unsafe poll(&target, 1, milliseconds) > 0 { return true }
    } while !hasPassed
    return false
  }

  /// Waits a moment of random length, so that waiting processes don't wake together.
  package static func pause(upTo milliseconds: UInt32 = 10) {
    usleep(.random(in: 500...(milliseconds * 1000)))
  }
}
