import Foundation

/// Where values are on a horizontal axis.
struct Scale {
  /// Whether the axis is logarithmic: if it were not, short bars could not be told apart.
  let isLogarithmic: Bool

  private let start: Double
  private let width: Double
  private let least: Double
  private let greatest: Double

  /// - Parameters:
  ///   - bars: The values of the bars.
  ///   - limits: Other values, which may be close to 0 without need for a logarithmic axis.
  ///   - start: Where the axis starts.
  ///   - width: Its length.
  init(_ bars: [Double], limits: [Double], start: Double, width: Double) {
    let values = bars + limits
    self.start = start
    self.width = width
    let most = values.max() ?? 1
    let fewest = values.filter { $0 > 0 }.min() ?? most
    isLogarithmic = most / (bars.filter { $0 > 0 }.min() ?? most) > 50
    greatest = most
    least = isLogarithmic ? pow(10, log10(fewest / 1.5).rounded(.down)) : 0
  }

  func x(_ value: Double) -> Double {
    let share =
      isLogarithmic
      ? log10(max(value, least) / least) / log10(greatest / least) : value / greatest
    return start + share * width
  }

  /// The values of the grid's lines.
  var ticks: [Double] {
    if isLogarithmic {
      return (0...12).map { least * pow(10, Double($0)) }.filter { $0 <= greatest * 1.001 }
    }
    let rough = greatest / 4
    let power = pow(10, log10(rough).rounded(.down))
    let step = power * ([1, 2, 5, 10].first { $0 * power >= rough } ?? 10)
    return (0...10).map { Double($0) * step }.filter { $0 <= greatest * 1.001 }
  }
}
