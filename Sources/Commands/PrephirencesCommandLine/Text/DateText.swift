package import Foundation
internal import Glibc

/// Dates in ISO 8601.
package enum DateText {
  /// Reads `2027-01-31`, which means its first moment, or `2027-01-31T12:00:00Z`.
  ///
  /// - Parameters:
  ///   - text: A date, or a date and a time, with an offset or in local time.
  ///   - local: The local time.
  /// - Returns: The date, or `nil` if the text is not a valid date.
  package static func parse(_ text: String, local: LocalTime = .current) -> Date? {
    let form =
      /(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,6})?)?([Zz]|[+-]\d\d:\d\d)?)?/
    guard let match = text.wholeMatch(of: form)?.output else { return nil }
    var parts = DateComponents()
    (parts.year, parts.month, parts.day) = (Int(match.1), Int(match.2), Int(match.3))
    parts.hour = match.4.map { Int($0) } ?? 0
    parts.minute = match.5.map { Int($0) } ?? 0
    parts.second = match.6.flatMap { $0 }.map { Int($0) } ?? 0
    guard let date = calendar.date(from: parts), parts.isValidDate(in: calendar) else { return nil }
    let fraction = match.7.flatMap { $0 }.flatMap { Double("0\($0)") } ?? 0
    guard let zone = match.8.flatMap({ $0 }) else {
      return local.moment(of: date).addingTimeInterval(fraction)
    }
    guard let offset = seconds(ofOffset: zone) else { return nil }
    return date.addingTimeInterval(fraction - Double(offset))
  }

  /// Returns a date in UTC, to the second.
  package static func text(_ date: Date) -> String {
    date.formatted(Date.ISO8601FormatStyle())
  }

  /// Returns the local day of a date in text, such as `2027-01-31`; other text stays unchanged.
  package static func day(ofMoment text: String, local: LocalTime = .current) -> String {
    guard let date = parse(text) else { return text }
    return String(Self.text(date.addingTimeInterval(Double(local.offset(date)))).prefix(10))
  }

  private static func seconds(ofOffset offset: Substring) -> Int? {
    guard offset.lowercased() != "z" else { return 0 }
    guard let hours = Int(offset.dropFirst().prefix(2)), let minutes = Int(offset.suffix(2)),
      hours < 24, minutes < 60
    else { return nil }
    return (offset.hasPrefix("-") ? -1 : 1) * (hours * 3600 + minutes * 60)
  }

  private static let calendar: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar
  }()
}

/// The user's local time.
package struct LocalTime: Sendable {
  /// Returns how many seconds local time is ahead of UTC at a date.
  package let offset: @Sendable (Date) -> Int

  /// The time zone of the process: that of `TZ` in any of its forms, otherwise the system's.
  package static let current = LocalTime { date in
    var moment = time_t(date.timeIntervalSince1970)
    var parts = tm()
    // `localtime_r` need not read the variable.
    tzset()
    return unsafe localtime_r(&moment, &parts) == nil ? 0 : parts.tm_gmtoff
  }

  /// Returns the date of a local time.
  ///
  /// If a local time occurs twice, as when daylight saving time ends, this is the first. If it is
  /// skipped, the result is later by as much as the clock was put forward.
  ///
  /// - Parameter shown: The date at which a clock in UTC shows it.
  /// - Returns: The date.
  package func moment(of shown: Date) -> Date {
    let day: TimeInterval = 86_400
    // The result is between these, because no local time is a day ahead or behind.
    let before = shown.addingTimeInterval(-Double(offset(shown.addingTimeInterval(-day))))
    let after = shown.addingTimeInterval(-Double(offset(shown.addingTimeInterval(day))))
    return [before, after].filter { shows(shown, at: $0) }.min() ?? before
  }

  private func shows(_ shown: Date, at moment: Date) -> Bool {
    moment.addingTimeInterval(Double(offset(moment))) == shown
  }
}
