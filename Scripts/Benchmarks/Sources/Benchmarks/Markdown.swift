import Foundation

extension Report {
  /// Returns the results as a page; `folder` is that of the drawings, relative to it.
  func markdown(folder: String) -> String {
    let met = figures.count { $0.isMet == true }
    let promised = figures.count { $0.target != nil }
    var lines = [
      "# Benchmarks", "", "`Scripts/bench --publish` writes this page: don't edit it.", "",
      "- **Measured:** prefs \(version), vault format \(vaultFormat)",
      "- **Date:** \(machine.date)\(isQuick ? " (quick run)" : "")",
      "- **Machine:** \(machine.processor), \(machine.processorCount) processors, Linux "
        + "\(machine.kernel), \(machine.fileSystem)",
      "- **Load:** \(machine.loadBefore) before, \(machine.loadAfter) after",
      "- **Targets met:** \(met) of \(promised)", "",
      "Each ratio is the median of one over the median of the other, measured in turns in one run.",
      "Less is better. Ratios carry over to other machines; times don't.",
      "[All numbers](\(folder)results.json) are in the same folder as the drawings.",
    ]
    lines += failures.isEmpty ? [] : [""] + failures.map { "- **Not measured:** \($0)" }
    lines += charts.flatMap { $0.markdown(folder: folder) }
    let drawn = Set(charts.map(\.question))
    if groups.contains(where: { !drawn.contains($0) }) {
      lines += [
        "", "## More targets", "",
        "| what | compared with | ratio | single rounds | target | medians |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
      ]
    }
    for group in groups where !drawn.contains(group) {
      lines += figures.filter { $0.group == group }.map(\.row)
    }
    return (lines + Self.notes).joined(separator: "\n") + "\n"
  }

  /// The groups of the figures, in the order of the run.
  private var groups: [String] {
    figures.map(\.group).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  private static let notes = [
    "", "## What takes the time", "",
    "- A `set` of a vault is one append and one wait for the disk. Preferences are safe from `kill` when `set`",
    "  returns, and from loss of power after `synchronize()`, which waits.",
    "- To open a vault, the log of its last changes is read, which is at most a 64th of the file or 32 KiB. A get",
    "  then reads one page, or none if it was read before.",
    "- Now and then a `set` makes a new base after it is durable, which writes the whole file.",
    "- A passphrase is hashed with 256 MiB, for about a second. Many commands at once share one hash.",
    "- Usual command lines are read without the argument parser, which took most of a command's",
    "  instructions. What is left of a `get` is mostly the start of a large program: the loader relocates it, and",
    "  the kernel maps its pages one by one as they are touched.",
  ]
}

extension Figure {
  fileprivate var row: String {
    let goal = target.map { "≤ \(Self.short($0))" } ?? "–"
    let cells = [
      "\(group): \(name)", reference, Self.short(ratio),
      "\(Self.short(lowest)) – \(Self.short(highest))",
      isMet == false ? "\(goal): **missed**" : goal,
      "\(quantity(subjectMedian)) / \(quantity(referenceMedian))",
    ]
    return "| " + cells.joined(separator: " | ") + " |"
  }

  /// Returns a quantity with its unit.
  func quantity(_ value: Double) -> String {
    switch unit {
    case .bytes: String(format: "%.1f MB", value / 1e6)
    case .count: "\(Int(value))"
    case .seconds: value.time
    }
  }

  /// Returns a ratio as a factor; 1/20 of something needs no sign.
  static func times(_ ratio: Double) -> String {
    let text = short(ratio)
    return text.hasPrefix("1/") ? text : text + "×"
  }

  /// Returns a ratio with three digits, or as a fraction.
  static func short(_ ratio: Double) -> String {
    if ratio < 0.1, ratio > 0 { return "1/\(Int((1 / ratio).rounded()))" }
    return String(format: ratio < 10 ? "%.2f" : "%.0f", ratio)
  }
}
