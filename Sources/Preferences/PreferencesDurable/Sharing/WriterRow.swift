package import Foundation

/// The row `w/<tag>` of a writer, which each of its transactions puts.
///
/// | bytes | mean |
/// | --- | --- |
/// | 1 | the form, 1 |
/// | 8 | the number of the unit, big-endian |
/// | 8 | when it was numbered by the writer's clock, in milliseconds since 1970, big-endian |
/// | 8 | random bytes, by which it differs from that of a copied file |
package enum WriterRow {
  private static let form: UInt8 = 1
  private static let count = 25

  package static func new(number: Int64) -> [UInt8] { bytes(number: number, nonce: newNonce()) }

  /// Returns what follows the number.
  static func newNonce() -> [UInt8] {
    BigEndian.bytes(Date().milliseconds)
      + (0..<8).map { _ in UInt8.random(in: 0...255) }
  }

  static func bytes(number: Int64, nonce: [UInt8]) -> [UInt8] {
    [form] + BigEndian.bytes(number) + nonce
  }

  /// The number of the unit; `nil` if the row is damaged, or has a newer form.
  package static func number(_ row: [UInt8]) -> Int64? {
    isReadable(row) ? BigEndian.number(row[1..<9]) : nil
  }

  /// When the unit was numbered; `nil` if the row is damaged, or has a newer form.
  package static func date(_ row: [UInt8]) -> Date? {
    isReadable(row) ? Date(foreignMilliseconds: BigEndian.number(row[9..<17])) : nil
  }

  private static func isReadable(_ row: [UInt8]) -> Bool { row.count == count && row[0] == form }
}

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
