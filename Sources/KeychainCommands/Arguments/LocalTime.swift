internal import Foundation
internal import Glibc

/// The time of the user's clock on the wall.
struct LocalTime: Sendable {
  /// How many seconds the clock is ahead of UTC at a moment.
  let offset: @Sendable (Date) -> Int

  /// The time zone of the process: that of `TZ` in each of its forms, else the system's.
  static let current = LocalTime { date in
    var moment = time_t(date.timeIntervalSince1970)
    var parts = tm()
    // `localtime_r` alone need not look at the variable.
    tzset()
    return unsafe localtime_r(&moment, &parts) == nil ? 0 : parts.tm_gmtoff
  }

  /// The moment at which the clock shows a time.
  ///
  /// Of a time that it shows twice, as in the night in which it is put back, this is the first; one that it
  /// leaves out is as much later as the clock was put forward.
  ///
  /// - Parameter shown: The moment at which a clock of UTC shows it.
  /// - Returns: The moment.
  func moment(of shown: Date) -> Date {
    let day: TimeInterval = 86_400
    // The moment itself lies between these, as no clock is a day ahead or behind.
    let before = shown.addingTimeInterval(-Double(offset(shown.addingTimeInterval(-day))))
    let after = shown.addingTimeInterval(-Double(offset(shown.addingTimeInterval(day))))
    return [before, after].filter { shows(shown, at: $0) }.min() ?? before
  }

  private func shows(_ shown: Date, at moment: Date) -> Bool {
    moment.addingTimeInterval(Double(offset(moment))) == shown
  }
}
