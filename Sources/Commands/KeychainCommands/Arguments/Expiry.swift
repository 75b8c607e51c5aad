internal import ArgumentParser
internal import Foundation
internal import PrephirencesCommandLine

/// When a secret stops being valid: the value of the option `--expires`.
enum Expiry: Hashable, Sendable {
  /// At a date.
  case at(Date)

  /// Some time after now.
  case after(Duration)

  /// Never.
  case never

  /// Reads a date, a duration or `never`.
  init(parsing text: String) throws {
    if text == "never" {
      self = .never
    } else if let date = DateText.parse(text) {
      self = .at(date)
    } else if let duration = DurationText.parse(text) {
      self = .after(duration)
    } else {
      throw ValidationError(UsageText.expiry)
    }
  }

  /// Returns the date, or `nil` for never.
  func date(from now: Date = Date()) -> Date? {
    switch self {
    case .at(let date): date
    case .after(let duration): now.addingTimeInterval(duration / .seconds(1))
    case .never: nil
    }
  }
}
