/// The moment by which something must have ended.
struct Deadline: Sendable {
  let instant: ContinuousClock.Instant

  init(after duration: Duration) {
    instant = .now + duration
  }

  var hasPassed: Bool { ContinuousClock.now >= instant }

  /// The seconds that are left, 0 at least.
  var seconds: Double { max(0, (ContinuousClock.now.duration(to: instant)) / .seconds(1)) }

  /// The milliseconds that are left, 1 at least, as GLib takes them.
  var milliseconds: Int32 { Int32(clamping: max(1, Int(seconds * 1000))) }
}
