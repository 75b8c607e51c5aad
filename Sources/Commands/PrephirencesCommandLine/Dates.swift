internal import ArgumentParser
package import FoundationEssentials
internal import Glibc
internal import PrephirencesSystem

package enum DateText {
  /// The suffix of a date that is too far away for a calendar.
  private static let origin = " s after 2001-01-01T00:00:00Z"

  /// Parses `2027-01-31`, which means its first moment, or `2027-01-31T12:00:00Z`.
  ///
  /// Without an offset it is local time. Returns `nil` if the text is not a valid date.
  package static func parse(_ text: String, local: LocalTime = .current) -> Date? {
    parse(text, allowsSpaceBeforeOffset: false) { local.moment(of: $0) }
  }

  /// Parses the output of ``exactText(_:)``, and any other date.
  ///
  /// `local` converts a local time, given as if it were UTC, to the real moment. It returns `nil`
  /// if the date needs an offset.
  package static func parseExact(_ text: String, local: (Date) -> Date?) -> Date? {
    guard text.hasSuffix(origin) else {
      return parse(text, allowsSpaceBeforeOffset: true, local: local)
    }
    return Double(text.dropLast(origin.count))
      .map(Date.init(timeIntervalSinceReferenceDate:))
  }

  private static func parse(
    _ text: String, allowsSpaceBeforeOffset: Bool, local: (Date) -> Date?
  ) -> Date? {
    guard let date = ISO8601(text, allowsSpaceBeforeOffset: allowsSpaceBeforeOffset) else {
      return nil
    }
    var offset = date.offset
    if offset == nil {
      let shown = Date(timeIntervalSinceReferenceDate: Double(date.seconds))
      offset = local(shown).map { Int(shown.timeIntervalSince($0)) }
    }
    return offset.flatMap { date.interval(offset: $0) }
      .map(Date.init(timeIntervalSinceReferenceDate:))
  }

  /// Formats a date in UTC, to the second.
  package static func text(_ date: Date) -> String {
    ISO8601.textInSeconds(date.timeIntervalSinceReferenceDate) ?? exactText(date)
  }

  /// Formats a date in UTC, with enough digits of a second to parse back to the same date.
  ///
  /// Years outside 0 to 9999 have a sign, such as `+12345-01-31T12:00:00Z`. A date at least 2^62
  /// seconds away is `1e+300 s after 2001-01-01T00:00:00Z`.
  package static func exactText(_ date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    return ISO8601.text(seconds) ?? "\(seconds)\(origin)"
  }

  /// Returns the local day of a date in text, such as `2027-01-31`; other text stays.
  package static func day(ofMoment text: String, local: LocalTime = .current) -> String {
    guard let date = parse(text, local: local) else { return text }
    return String(
      Self.text(date.addingTimeInterval(Double(local.offset(date)))).prefix { $0 != "T" })
  }
}

/// The user's local time.
package struct LocalTime: Sendable {
  /// Returns how many seconds local time is ahead of UTC at a date.
  package let offset: @Sendable (Date) -> Int

  /// The time zone of the process: from `TZ` in any form, or else the system's.
  package static let current = LocalTime { date in
    var moment = time_t(date.timeIntervalSince1970)
    var parts = tm()
    // `localtime_r` need not read the variable.
    tzset()
    return unsafe localtime_r(&moment, &parts) == nil ? 0 : parts.tm_gmtoff
  }

  /// Converts a local time, given as if it were UTC, to the real moment.
  ///
  /// If a local time occurs twice, as when daylight saving time ends, the first moment is returned.
  /// If it is skipped, the result is later by as much as the clock was put forward.
  package func moment(of shown: Date) -> Date {
    let day: TimeInterval = 86_400
    // The result is between these, because local time is less than a day ahead or behind.
    let before = shown.addingTimeInterval(-Double(offset(shown.addingTimeInterval(-day))))
    let after = shown.addingTimeInterval(-Double(offset(shown.addingTimeInterval(day))))
    return [before, after].filter { shows(shown, at: $0) }.min() ?? before
  }

  private func shows(_ shown: Date, at moment: Date) -> Bool {
    moment.addingTimeInterval(Double(offset(moment))) == shown
  }
}

/// Durations as people write them: `500ms`, `10s`, `2m`, `1h30m`, `90d`, `1w`, `1y`.
package enum DurationText {
  /// The milliseconds of a unit.
  private static let milliseconds: [String: Int64] = [
    "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000,
    "y": 31_536_000_000,
  ]

  /// A longer duration is a mistake.
  private static let greatest: Int64 = 31_536_000_000 * 1000

  /// Parses a duration.
  ///
  /// A number without a unit is invalid, because `30` may mean minutes. More than a thousand years
  /// is invalid, too.
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

  /// Formats a duration, with the largest units first, and weeks and years as days.
  package static func text(_ duration: Duration) -> String {
    var rest = Int64(duration / .milliseconds(1))
    let parts = ["d", "h", "m", "s", "ms"].compactMap { unit -> String? in
      guard let factor = milliseconds[unit] else { return nil }
      defer { rest %= factor }
      return rest < factor ? nil : "\(rest / factor)\(unit)"
    }
    return parts.isEmpty ? "0s" : parts.joined()
  }

  /// Whether the text is a number without a unit.
  package static func lacksUnit(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(isDigit)
  }

  /// Parses the value of an option; the error says what to write.
  package static func argument(_ text: String) throws -> Duration {
    guard let duration = parse(text) else {
      throw ValidationError(lacksUnit(text) ? unitMissing(text) : usage)
    }
    return duration
  }

  private static let usage = "write a time such as 500ms, 10s, 2m or 1h"

  /// The error for a number without a unit, which may not mean seconds.
  private static func unitMissing(_ number: String) -> String {
    "the unit is missing; write \(number)s for seconds, or \(number)m for minutes"
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
