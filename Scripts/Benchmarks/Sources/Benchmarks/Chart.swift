import Foundation

/// A drawing of the ratios on a logarithmic axis.
///
/// 1× is the reference; faster is to the left. A line across a bar marks the target.
struct Chart {
  private let report: Report
  private let width = 900.0
  private let rowHeight = 34.0
  private let labelWidth = 430.0
  private let top = 64.0
  private let decades: ClosedRange<Int>

  init(_ report: Report) {
    self.report = report
    let values = report.figures.flatMap { figure -> [Double] in
      [figure.ratio, figure.target ?? 1]
    }
    let least = log10(values.min() ?? 0.1).rounded(.down)
    let greatest = log10(max(values.max() ?? 10, 2)).rounded(.up)
    decades = Int(least)...Int(greatest)
  }

  private var height: Double { top + rowHeight * Double(report.figures.count) + 44 }

  private func x(_ ratio: Double) -> Double {
    let share = (log10(ratio) - Double(decades.lowerBound)) / Double(decades.count - 1)
    return labelWidth + share * (width - labelWidth - 70)
  }

  var svg: String {
    let rows = report.figures.enumerated().map {
      row($0.element, y: top + rowHeight * Double($0.offset))
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width)) \(Int(height))" \
      font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="Benchmarks">
      <style>
      .back{fill:#fff}.text{fill:#1f2328}.dim{fill:#59636e;font-size:11px}.grid{stroke:#d1d9e0}
      .one{stroke:#59636e;stroke-width:1.5}.met{fill:#2da44e}.missed{fill:#cf222e}
      .target{stroke:#1f2328;stroke-width:2}
      @media (prefers-color-scheme:dark){
      .back{fill:#0d1117}.text{fill:#f0f6fc}.dim{fill:#9198a1}.grid{stroke:#3d444d}.one{stroke:#9198a1}
      .met{fill:#3fb950}.missed{fill:#f85149}.target{stroke:#f0f6fc}}
      </style>
      <rect class="back" width="100%" height="100%"/>
      <text class="text" x="16" y="26" font-size="16">Time beside what each is compared with \
      (1×); shorter to the left is faster</text>
      \(axis)
      \(rows.joined(separator: "\n"))
      <text class="dim" x="16" y="\(height - 14)">\(Self.escaped(footer))</text>
      </svg>

      """
  }

  private var footer: String {
    "\(report.machine.processor), Linux \(report.machine.kernel), load \(report.machine.loadBefore)."
      + " The line across a row is its target."
  }

  private var axis: String {
    decades.map { decade in
      let ratio = pow(10, Double(decade))
      let kind = decade == 0 ? "one" : "grid"
      return """
        <line class="\(kind)" x1="\(x(ratio).short)" x2="\(x(ratio).short)" y1="\(top - 8)" \
        y2="\(height - 36)"/><text class="dim" text-anchor="middle" x="\(x(ratio).short)" \
        y="\(top - 14)">\(Figure.axis(ratio))</text>
        """
    }.joined(separator: "\n")
  }

  private func row(_ figure: Figure, y: Double) -> String {
    let ends = [x(figure.ratio), x(1)].sorted()
    let kind = figure.isMet == false ? "missed" : "met"
    let target = figure.target.map {
      "<line class=\"target\" x1=\"\(x($0).short)\" x2=\"\(x($0).short)\" y1=\"\(y + 2)\" y2=\"\(y + 24)\"/>"
    }
    return """
      <text class="text" x="16" y="\(y + 12)">\(Self.escaped("\(figure.group): \(figure.name)"))</text>
      <text class="dim" x="16" y="\(y + 25)">over \(Self.escaped(figure.reference))</text>
      <rect class="\(kind)" x="\(ends[0].short)" y="\(y + 6)" \
      width="\(max(1.5, ends[1] - ends[0]).short)" height="14" rx="2"/>\(target ?? "")
      <text class="text" x="\(width - 12)" y="\(y + 18)" text-anchor="end">\
      \(Figure.short(figure.ratio))×</text>
      """
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
  }
}

extension Figure {
  fileprivate static func axis(_ ratio: Double) -> String {
    ratio >= 1 ? "\(Int(ratio))×" : "\(ratio.formatted(.number.precision(.significantDigits(1))))×"
  }
}

extension Double {
  fileprivate var short: String { String(format: "%.1f", self) }
}
