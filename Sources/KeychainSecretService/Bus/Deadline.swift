/// The moment by which something must have ended.
struct Deadline: Sendable {
  let instant: ContinuousClock.Instant

  init(after duration: Duration) { self.init(instant: .now + duration) }

  private init(instant: ContinuousClock.Instant) { self.instant = instant }

  func later(by duration: Duration) -> Deadline { Deadline(instant: instant + duration) }

  func earlier(than other: Deadline) -> Deadline {
    Deadline(instant: min(instant, other.instant))
  }

  var hasPassed: Bool { ContinuousClock.now >= instant }

  /// The seconds that are left, 0 at least.
  var seconds: Double { max(0, (ContinuousClock.now.duration(to: instant)) / .seconds(1)) }

  /// The milliseconds that are left, 1 at least, as GLib takes them.
  var milliseconds: Int32 { Int32(clamping: max(1, Int(seconds * 1000))) }
}
