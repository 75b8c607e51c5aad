/// How long to wait before the next attempt: longer each time, and not at the same time as others.
struct Backoff {
  private let least: Duration
  private let greatest: Duration
  private var next: Duration

  init(from least: Duration, to greatest: Duration) {
    self.least = least
    self.greatest = greatest
    next = least
  }

  init(_ options: SyncOptions) {
    self.init(from: options.leastBackoff, to: options.greatestBackoff)
  }

  mutating func delay() -> Duration {
    defer { next = min(next * 2, greatest) }
    return next * Double.random(in: 0.5...1)
  }

  mutating func reset() { next = least }
}
