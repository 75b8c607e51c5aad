package import Foundation

/// Times in files and rows: milliseconds since 1970.
extension Date {
  package init(milliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
  }

  package var milliseconds: Int64 { Int64(timeIntervalSince1970 * 1000) }

  /// Takes what another machine has written; `nil` if no clock has such a time: before 1970, or after
  /// the year 9999.
  package init?(foreignMilliseconds milliseconds: Int64) {
    guard (0..<253_402_300_800_000).contains(milliseconds) else { return nil }
    self.init(milliseconds: milliseconds)
  }
}
