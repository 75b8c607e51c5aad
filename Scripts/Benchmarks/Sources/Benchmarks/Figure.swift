/// One result: the ratio of two things measured in the same run, and its target.
struct Figure: Codable {
  let group: String
  let name: String
  let reference: String

  /// The subject over the reference; less is better.
  let ratio: Double

  /// The least and the greatest ratio of single rounds.
  let lowest: Double
  let highest: Double

  /// The target that the ratio must not exceed; `nil` if there is none.
  let target: Double?

  /// Medians, in seconds (or bytes, for memory, or a count).
  let subjectMedian: Double
  let referenceMedian: Double
  let unit: Unit

  enum Unit: String, Codable {
    case seconds, bytes, count
  }

  var isMet: Bool? { target.map { ratio <= $0 } }
}

extension Figure {
  init(
    _ group: String, _ name: String, over reference: String, _ comparison: Comparison,
    atMost target: Double?
  ) {
    self.init(
      group: group, name: name, reference: reference, ratio: comparison.ratio,
      lowest: comparison.range.lowerBound, highest: comparison.range.upperBound, target: target,
      subjectMedian: comparison.subject.median, referenceMedian: comparison.reference.median,
      unit: .seconds)
  }
  /// Compares with a limit that does not depend on the machine's other work.
  init(
    _ group: String, _ name: String, within reference: String, of limit: Double, _ samples: Samples,
    unit: Unit = .seconds
  ) {
    self.init(
      group: group, name: name, reference: reference, ratio: samples.median / limit,
      lowest: samples.least / limit, highest: samples.greatest / limit, target: 1,
      subjectMedian: samples.median, referenceMedian: limit, unit: unit)
  }
}
