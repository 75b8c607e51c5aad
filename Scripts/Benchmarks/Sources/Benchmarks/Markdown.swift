import Foundation

extension Report {
  /// The run as a table.
  var markdown: String {
    let met = figures.count { $0.isMet == true }
    let promised = figures.count { $0.target != nil }
    let intervals =
      "Each ratio is the median of the one over the median of the other, measured in turns."
    var lines = [
      "# Benchmarks", "",
      "\(machine.date) · \(machine.processor), \(machine.processorCount) processors · Linux "
        + "\(machine.kernel) · \(machine.fileSystem) · load \(machine.loadBefore) before, "
        + "\(machine.loadAfter) after\(isQuick ? " · quick run" : "")", "",
      "\(intervals) Less is better. \(met) of \(promised) targets met.", "",
      "| what | over | ratio | single rounds | target | met | medians |",
      "| --- | --- | ---: | ---: | ---: | --- | ---: |",
    ]
    lines += figures.map(\.row)
    return lines.joined(separator: "\n") + "\n"
  }
}

extension Figure {
  fileprivate var row: String {
    let cells = [
      "\(group): \(name)", reference, Self.short(ratio),
      "\(Self.short(lowest)) – \(Self.short(highest))", target.map { "≤ \(Self.short($0))" } ?? "–",
      isMet.map { $0 ? "yes" : "**no**" } ?? "–",
      "\(quantity(subjectMedian)) / \(quantity(referenceMedian))",
    ]
    return "| " + cells.joined(separator: " | ") + " |"
  }

  /// A quantity in its unit.
  func quantity(_ value: Double) -> String {
    switch unit {
    case .bytes: return String(format: "%.1f MB", value / 1e6)
    case .seconds:
      if value >= 1 { return String(format: "%.2f s", value) }
      if value >= 1e-3 { return String(format: "%.2f ms", value * 1e3) }
      return String(format: "%.1f µs", value * 1e6)
    }
  }

  /// A ratio to three digits.
  static func short(_ ratio: Double) -> String {
    String(format: ratio < 0.1 ? "%.4f" : ratio < 10 ? "%.2f" : "%.0f", ratio)
  }
}
