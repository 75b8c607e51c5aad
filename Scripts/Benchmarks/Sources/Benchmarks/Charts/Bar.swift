/// One measured time.
struct Bar: Codable {
  let label: String

  /// Whether it is this package, and not what it is compared with.
  let isOurs: Bool

  /// In seconds.
  let median: Double

  /// The quartiles, in seconds.
  let low: Double
  let high: Double

  /// The ratio to the chart's reference that must not be exceeded; `nil` if it is not judged.
  let target: Double?

  /// What a reader must know to compare it, such as the cost of a password hash.
  let note: String?

  /// The instructions of the whole process, which do not depend on the machine's load.
  var instructions: Double?

  init(
    _ label: String, _ samples: Samples, isOurs: Bool = false, atMost target: Double? = nil,
    note: String? = nil
  ) {
    self.label = label
    self.isOurs = isOurs
    self.target = target
    self.note = note
    median = samples.median
    low = samples.times.quantile(0.25)
    high = samples.times.quantile(0.75)
  }

  /// Whether the target is met; `nil` if there is none.
  func isMet(over reference: Double?) -> Bool? {
    guard let target, let reference else { return nil }
    return median / reference <= target
  }
}
