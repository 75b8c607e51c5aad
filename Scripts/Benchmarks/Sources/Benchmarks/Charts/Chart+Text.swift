import Foundation

extension Chart {
  /// The bars in words, for those who do not see the drawing.
  var description: String {
    let words = groups.map { group in
      let bars = group.bars.map { "\($0.label) \($0.median.time)" }.joined(separator: ", ")
      return (group.heading.map { "\($0): " } ?? "") + bars
    }
    return words.joined(separator: "; ") + "."
  }

  /// The chart and its numbers, as a section of a page; `folder` has the drawing.
  func markdown(folder: String) -> [String] {
    let alternative = description.replacing("[", with: "(").replacing("]", with: ")")
    var lines = [
      "", "## \(question)", "", remark.wrapped(), "", "![\(alternative)](\(folder)\(name).svg)", "",
      "| \(heads.joined(separator: " | ")) |",
      "| --- | " + heads.dropFirst().map { _ in "---:" }.joined(separator: " | ") + " |",
    ]
    for group in groups {
      lines += group.bars.map { row($0, in: group) }
      if let limit = group.limit { lines.append(row(limit, in: group)) }
    }
    let notes = groups.flatMap(\.bars).compactMap { bar in bar.note.map { "- \(bar.label): \($0)" }
    }
    let all = (notes + missing.map { "- \($0)" }).reduce(into: [String]()) {
      if !$0.contains($1) { $0.append($1) }
    }
    return lines + (all.isEmpty ? [] : [""] + all.map { $0.wrapped(indent: "  ") })
  }

  private var hasInstructions: Bool {
    groups.flatMap(\.bars).contains { $0.instructions != nil }
  }

  private var heads: [String] {
    ["what", "median", "middle half", "over \(reference)", "target"]
      + (hasInstructions ? ["instructions"] : [])
  }

  private func row(_ bar: Bar, in group: BarGroup) -> String {
    let one = group.value(of: reference)
    let goal = bar.target.map { "≤ \(Figure.short($0))" } ?? "–"
    let name = bar.isOurs ? "**\(bar.label)**" : bar.label
    var cells = [
      (group.heading.map { "\($0): " } ?? "") + name, bar.median.time,
      "\(bar.low.time) – \(bar.high.time)", one.map { Figure.short(bar.median / $0) } ?? "–",
      bar.isMet(over: one) == false ? "\(goal): **missed**" : goal,
    ]
    if hasInstructions { cells.append(Self.millions(bar.instructions)) }
    return "| " + cells.joined(separator: " | ") + " |"
  }

  private func row(_ limit: BarGroup.Limit, in group: BarGroup) -> String {
    let one = group.value(of: reference)
    var cells = [
      (group.heading.map { "\($0): " } ?? "") + "*limit:* \(limit.label)", limit.value.time, "–",
      one.map { Figure.short(limit.value / $0) } ?? "–", "–",
    ]
    if hasInstructions { cells.append(Self.millions(limit.instructions)) }
    return "| " + cells.joined(separator: " | ") + " |"
  }

  private static func millions(_ count: Double?) -> String {
    count.map { String(format: "%.1f M", $0 / 1e6) } ?? "–"
  }
}

extension Double {
  /// Seconds with a unit and three digits.
  var time: String {
    let (value, unit) =
      self >= 1
      ? (self, "s")
      : self >= 1e-3
        ? (self * 1e3, "ms")
        : self >= 1e-6 ? (self * 1e6, "µs") : (self * 1e9, "ns")
    if self == 0 { return "0" }
    let format = value >= 99.95 ? "%.0f" : value >= 9.995 ? "%.1f" : "%.2f"
    var digits = String(format: format, value)
    if digits.contains(".") {
      while digits.hasSuffix("0") { digits.removeLast() }
      if digits.hasSuffix(".") { digits.removeLast() }
    }
    return "\(digits) \(unit)"
  }
}

extension String {
  /// Returns the text in lines of at most 100 letters; those after the first are indented.
  fileprivate func wrapped(indent: String = "") -> String {
    split(separator: " ").reduce(into: [""]) { lines, word in
      let last = lines[lines.count - 1]
      if last.count + word.count >= 100 {
        lines.append(indent + word)
      } else {
        lines[lines.count - 1] = last.isEmpty ? String(word) : last + " " + word
      }
    }.joined(separator: "\n")
  }
}
