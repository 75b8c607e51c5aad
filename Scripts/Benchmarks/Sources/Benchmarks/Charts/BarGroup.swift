/// Bars that did the same work.
struct BarGroup: Codable {
  /// What differs from the other groups of the chart, such as the number of items.
  let heading: String?

  var bars: [Bar]

  /// The least possible, as a line across the bars.
  var limit: Limit?

  struct Limit: Codable {
    let label: String

    /// In seconds.
    let value: Double
    var instructions: Double?
  }

  /// Returns the median of a bar or of the limit.
  func value(of label: String) -> Double? {
    if limit?.label == label { return limit?.value }
    return bars.first { $0.label == label }?.median
  }
}
