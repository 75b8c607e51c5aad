internal import ArgumentParser

/// Durations as people write them: `500ms`, `10s`, `2m`, `1h30m`, `90d`, `1w`, `1y`.
package enum DurationText {
  /// The number of milliseconds of a unit.
  private static let milliseconds: [String: Int64] = [
    "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000,
    "y": 31_536_000_000,
  ]

  /// A longer duration is a mistake.
  private static let greatest: Int64 = 31_536_000_000 * 1000

  /// Reads a duration.
  ///
  /// - Parameter text: Numbers with units, usually the largest unit first. A number without a unit
  ///   is invalid, because `30` may mean minutes.
  /// - Returns: The duration, or `nil` if the text is invalid or exceeds a thousand years.
  package static func parse(_ text: String) -> Duration? {
    var rest = text.utf8[...]
    var total: Int64 = 0
    repeat {
      guard let part = takePart(from: &rest) else { return nil }
      total += part
      guard total <= greatest else { return nil }
    } while !rest.isEmpty
    return .milliseconds(total)
  }

  /// Removes a number and its unit from the text, and returns its milliseconds.
  private static func takePart(from rest: inout Substring.UTF8View) -> Int64? {
    let digits = rest.prefix(while: isDigit)
    rest = rest[digits.endIndex...]
    let unit = rest.prefix { !isDigit($0) }
    rest = rest[unit.endIndex...]
    guard let number = Int64(Substring(digits)), let factor = milliseconds[String(Substring(unit))]
    else { return nil }
    let product = number.multipliedReportingOverflow(by: factor)
    return product.overflow || product.partialValue > greatest ? nil : product.partialValue
  }

  /// Returns the text of a duration, in the largest units first, with weeks and years as days.
  ///
  /// - Parameter duration: The duration, in whole milliseconds.
  /// - Returns: The text, such as `1h30m`.
  package static func text(_ duration: Duration) -> String {
    var rest = Int64(duration / .milliseconds(1))
    let parts = ["d", "h", "m", "s", "ms"].compactMap { unit -> String? in
      guard let factor = milliseconds[unit] else { return nil }
      defer { rest %= factor }
      return rest < factor ? nil : "\(rest / factor)\(unit)"
    }
    return parts.isEmpty ? "0s" : parts.joined()
  }

  /// Returns whether the text is a number without a unit.
  package static func lacksUnit(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(isDigit)
  }

  /// Reads the value of an option; the error says what to write.
  package static func argument(_ text: String) throws -> Duration {
    guard let duration = parse(text) else {
      throw ValidationError(lacksUnit(text) ? unitMissing(text) : usage)
    }
    return duration
  }

  private static let usage = "write a time such as 500ms, 10s, 2m or 1h"

  /// A number may not mean seconds.
  private static func unitMissing(_ number: String) -> String {
    "the unit is missing; write \(number)s for seconds, or \(number)m for minutes"
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
