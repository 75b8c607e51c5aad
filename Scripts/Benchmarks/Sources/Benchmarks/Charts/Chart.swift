/// The answer to one question, as bars.
struct Chart: Codable {
  /// The name of its drawing, without the extension.
  let name: String

  let question: String

  /// What was measured, in a sentence.
  let remark: String

  /// The label of the bar, or of the limit, that is 1×.
  let reference: String

  var groups: [BarGroup]

  /// What could not be measured here, and why.
  var missing: [String] = []

  /// Compares two bars of the first group that are both measured, as one of the other figures.
  func figures(
    _ group: String, _ name: String, _ label: String, over other: String, atMost target: Double
  ) -> [Figure] {
    guard let bar = groups.first?.bars.first(where: { $0.label == label }),
      let one = groups.first?.value(of: other)
    else { return [] }
    return [
      Figure(
        group: group, name: name, reference: other, ratio: bar.median / one,
        lowest: bar.low / one, highest: bar.high / one, target: target,
        subjectMedian: bar.median, referenceMedian: one, unit: .seconds)
    ]
  }

  /// The bars that have a target.
  var figures: [Figure] {
    groups.flatMap { group in
      group.bars.compactMap { bar in
        guard let target = bar.target, let one = group.value(of: reference) else { return nil }
        return Figure(
          group: question,
          name: [bar.label, group.heading].compactMap(\.self).joined(separator: ", "),
          reference: reference, ratio: bar.median / one, lowest: bar.low / one,
          highest: bar.high / one, target: target, subjectMedian: bar.median, referenceMedian: one,
          unit: .seconds)
      }
    }
  }
}
