import Foundation

/// A chart as SVG: without scripts, and legible on a light and on a dark page.
struct Drawing {
  private let chart: Chart
  private let footer: String
  private let scale: Scale
  private let width = 880.0
  private let labelWidth: Double
  private let top = 66.0
  private let rowHeight = 24.0
  private let headingHeight = 26.0
  private let gap = 8.0

  init(_ chart: Chart, footer: String) {
    self.chart = chart
    self.footer = footer
    let bars = chart.groups.flatMap(\.bars)
    // A letter of the font has about this width.
    let longest = bars.map { Double($0.label.count + ($0.note == nil ? 0 : 2)) }.max() ?? 10
    labelWidth = min(320, max(110, longest * 7.8 + 30))
    scale = Scale(
      bars.flatMap { [$0.median, $0.high] }, limits: chart.groups.compactMap(\.limit?.value),
      start: labelWidth, width: width - labelWidth - 170)
  }

  private var bottom: Double {
    chart.groups.reduce(top) { $0 + height(of: $1) }
  }

  private func height(of group: BarGroup) -> Double {
    (group.heading == nil ? 0 : headingHeight) + rowHeight * Double(group.bars.count) + gap
  }

  var svg: String {
    let notes = legend
    let height = bottom + 34 + 17 * Double(notes.count)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width.short) \(height.short)" \
      font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="13" role="img" \
      aria-labelledby="title description">
      <title id="title">\(chart.question.escaped)</title>
      <desc id="description">\(chart.description.escaped)</desc>
      \(Self.style)
      <rect class="back" width="100%" height="100%"/>
      <text class="text" x="16" y="26" font-size="17" font-weight="600">\(chart.question.escaped)</text>
      <text class="dim" x="16" y="46">\(subtitle.escaped)</text>
      \(grid)
      \(rows)
      \(notes.enumerated().map { line, text in
        "<text class=\"dim\" x=\"16\" y=\"\((bottom + 36 + 17 * Double(line)).short)\">\(text.escaped)</text>"
      }.joined(separator: "\n"))
      </svg>

      """
  }

  private var subtitle: String {
    chart.remark + (scale.isLogarithmic ? " Logarithmic scale." : "")
  }

  private var grid: String {
    scale.ticks.map { tick in
      let x = scale.x(tick).short
      return """
        <line class="grid" x1="\(x)" x2="\(x)" y1="\((top - 6).short)" y2="\(bottom.short)"/>\
        <text class="dim" text-anchor="middle" x="\(x)" y="\((bottom + 14).short)">\(tick.time)</text>
        """
    }.joined(separator: "\n")
  }

  private var rows: String {
    var y = top
    var lines: [String] = []
    for group in chart.groups {
      let first = y
      if let heading = group.heading {
        lines.append(
          "<text class=\"text\" x=\"16\" y=\"\((y + 17).short)\" font-weight=\"600\">\(heading.escaped)</text>"
        )
        y += headingHeight
      }
      let start = y
      for bar in group.bars {
        lines.append(row(bar, in: group, y: y))
        y += rowHeight
      }
      if let limit = group.limit {
        let x = scale.x(limit.value).short
        lines.append(
          "<line class=\"limit\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\((start - 3).short)\" y2=\"\((y + 1).short)\"/>"
        )
      }
      y = first + height(of: group)
    }
    return lines.joined(separator: "\n")
  }

  private func row(_ bar: Bar, in group: BarGroup, y: Double) -> String {
    let one = group.value(of: chart.reference)
    let kind =
      switch bar.isMet(over: one) {
      case true?: "met"
      case false?: "missed"
      case nil: "plain"
      }
    let end = scale.x(bar.median)
    let mark = target(of: bar, over: one)
    let line = mark.map {
      """
      <line class="target" x1="\($0.short)" x2="\($0.short)" y1="\((y + 1).short)" \
      y2="\((y + 21).short)"/>
      """
    }
    let ratio = one.map { " · \(Figure.times(bar.median / $0))" } ?? ""
    let words = bar.median.time + ratio
    let lines = [mark, group.limit.map { scale.x($0.value) }].compactMap(\.self)
    let start = Self.place(words, after: end, beside: lines)
    let weight = bar.isOurs ? " font-weight=\"600\"" : ""
    return """
      <text class="text" x="\((labelWidth - 10).short)" y="\((y + 15.5).short)" \
      text-anchor="end"\(weight)>\(bar.label.escaped)\(bar.note == nil ? "" : " *")</text>\
      <rect class="\(kind)" x="\(labelWidth.short)" y="\((y + 4).short)" \
      width="\(max(1.5, end - labelWidth).short)" height="15" rx="2"/>\(line ?? "")\
      <text class="text" x="\(start.short)" y="\((y + 15.5).short)"\(weight)>\(words)</text>
      """
  }

  /// Returns where the mark of a target is; `nil` if it is out of sight.
  private func target(of bar: Bar, over one: Double?) -> Double? {
    guard let target = bar.target, let one else { return nil }
    let place = scale.x(target * one)
    return place < width - 40 ? place : nil
  }

  /// Returns where words after a bar start, so that no line crosses them.
  private static func place(_ words: String, after end: Double, beside lines: [Double]) -> Double {
    let length = Double(words.count) * 8
    return lines.sorted().reduce(end + 8) { start, line in
      (start - 6...start + length).contains(line) ? line + 8 : start
    }
  }

  /// The lines below the axis.
  private var legend: [String] {
    let bars = chart.groups.flatMap(\.bars)
    var lines: [String] = ["1× is \(chart.reference)."]
    if bars.contains(where: { $0.target != nil }) {
      lines[0] +=
        " A line across a bar is its target: green is met, red is missed; grey is not judged."
    }
    if let limit = chart.groups.compactMap(\.limit).first {
      let values = chart.groups.compactMap { $0.limit?.value.time }
      let known =
        Set(values).count == 1 || values.count < 5 ? ": \(values.joined(separator: ", "))" : ""
      lines.append("Dashed, the least possible: \(limit.label)\(known).")
    }
    for bar in bars {
      if let note = bar.note, !lines.contains("* \(bar.label): \(note)") {
        lines.append("* \(bar.label): \(note)")
      }
    }
    return lines + chart.missing + [footer]
  }

  private static let style = """
    <style>
    .back{fill:#fff}.text{fill:#1f2328}.dim{fill:#59636e;font-size:12px}.grid{stroke:#d1d9e0}
    .met{fill:#2da44e}.missed{fill:#cf222e}.plain{fill:#8c959f}
    .target{stroke:#1f2328;stroke-width:2}.limit{stroke:#0969da;stroke-width:2;stroke-dasharray:5 3}
    @media (prefers-color-scheme:dark){
    .back{fill:#0d1117}.text{fill:#f0f6fc}.dim{fill:#9198a1}.grid{stroke:#3d444d}
    .met{fill:#3fb950}.missed{fill:#f85149}.plain{fill:#6e7681}.target{stroke:#f0f6fc}.limit{stroke:#4493f8}}
    </style>
    """
}

extension Double {
  fileprivate var short: String { String(format: "%.1f", self) }
}

extension String {
  fileprivate var escaped: String {
    replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
      .replacing("`", with: "")
  }
}
