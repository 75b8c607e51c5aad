package import FoundationEssentials
internal import Glibc
internal import PrephirencesSystem

/// Dates in ISO 8601.
package enum DateText {
  /// Before the seconds of a date that has no text in ISO 8601.
  private static let origin = "2001-01-01T00:00:00Z + "

  /// Reads `2027-01-31`, which means its first moment, or `2027-01-31T12:00:00Z`.
  ///
  /// Without an offset it is local time; `nil` if the text is not a valid date.
  package static func parse(_ text: String, local: LocalTime = .current) -> Date? {
    parse(text, allowsSpaceBeforeOffset: false) { local.moment(of: $0) }
  }

  /// Reads what ``exactText(_:)`` writes, and any other date.
  ///
  /// `local` returns the moment at which local clocks show what clocks in UTC show at a date, or `nil`
  /// if a date needs an offset.
  package static func parseExact(_ text: String, local: (Date) -> Date?) -> Date? {
    guard text.hasPrefix(origin), text.hasSuffix(" s") else {
      return parse(text, allowsSpaceBeforeOffset: true, local: local)
    }
    return Double(text.dropFirst(origin.count).dropLast(2))
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

  /// Returns a date in UTC, to the second.
  package static func text(_ date: Date) -> String {
    ISO8601.textInSeconds(date.timeIntervalSinceReferenceDate) ?? exactText(date)
  }

  /// Returns a date in UTC, with as many digits of a second as read back to the same date.
  ///
  /// A date outside the years 1 to 9999 is written as seconds from the first moment of 2001, such as
  /// `2001-01-01T00:00:00Z + 1e+300 s`.
  package static func exactText(_ date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    return ISO8601.text(seconds) ?? "\(origin)\(seconds) s"
  }

  /// Returns the local day of a date in text, such as `2027-01-31`; other text stays unchanged.
  package static func day(ofMoment text: String, local: LocalTime = .current) -> String {
    guard let date = parse(text, local: local) else { return text }
    return String(Self.text(date.addingTimeInterval(Double(local.offset(date)))).prefix(10))
  }
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

  /// Returns the moment at which local clocks show what a clock in UTC shows at a date.
  ///
  /// If a local time occurs twice, as when daylight saving time ends, this is the first. If it is
  /// skipped, the result is later by as much as the clock was put forward.
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
