internal import Foundation

/// Dates in ISO 8601, in UTC, with as many digits of a second as read back to the same date.
///
/// A date outside the years 1 to 9999 is written as seconds from the first moment of 2001, such as
/// `2001-01-01T00:00:00Z + 1e+300 s`.
enum ExactDateText {
  /// Returns the text of a date.
  static func text(_ date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    guard seconds.isFinite, years.contains(seconds) else { return "\(origin)\(seconds) s" }
    let (whole, digits) = split(seconds)
    let day = floorDivision(whole, secondsOfDay)
    let second = whole - day * secondsOfDay
    let (year, month, dayOfMonth) = civil(fromDay: day)
    let time = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
      + "T\(time.joined(separator: ":"))\(digits.isEmpty ? "" : ".")\(digits)Z"
  }

  /// Reads a date.
  ///
  /// - Parameters:
  ///   - text: A date in any of the forms of ISO 8601 with all its parts, or a day.
  ///   - local: Returns the moment at which local clocks show what clocks in UTC show at a date; `nil`
  ///     if a date needs a zone.
  /// - Returns: The date, or `nil` if the text is not one.
  static func parse(_ text: String, local: (Date) -> Date?) -> Date? {
    if text.hasPrefix(origin), text.hasSuffix(" s") {
      return Double(text.dropFirst(origin.count).dropLast(2))
        .map(Date.init(timeIntervalSinceReferenceDate:))
    }
    let form =
      /(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?: ?([Zz]|[+-]\d\d:?\d\d))?)?/
    guard let match = text.wholeMatch(of: form)?.output,
      let year = Int(match.1), let month = Int(match.2), let day = Int(match.3),
      let hour = Int(match.4 ?? "0"), let minute = Int(match.5 ?? "0"),
      let second = Int(match.6 ?? "0"),
      year > 0, hour < 24, minute < 60, second < 60,
      let days = self.day(year: year, month: month, day: day)
    else { return nil }
    let whole = days * secondsOfDay + hour * 3600 + minute * 60 + second
    let digits = String(match.7 ?? "")
    guard let zone = match.8 else {
      let moment = local(Date(timeIntervalSinceReferenceDate: Double(whole)))
      return moment.flatMap { joined(Int($0.timeIntervalSinceReferenceDate), digits) }
    }
    guard let offset = seconds(ofOffset: zone) else { return nil }
    return joined(whole - offset, digits)
  }

  private static let origin = "2001-01-01T00:00:00Z + "
  private static let secondsOfDay = 86_400

  /// From the first moment of the year 1 to the last of 9999.
  private static let years: Range<Double> = -63_113_904_000..<252_423_993_600

  private static func seconds(ofOffset offset: Substring) -> Int? {
    guard offset.lowercased() != "z" else { return 0 }
    guard let hours = Int(offset.dropFirst().prefix(2)), let minutes = Int(offset.suffix(2)),
      hours < 24, minutes < 60
    else { return nil }
    return (offset.hasPrefix("-") ? -1 : 1) * (hours * 3600 + minutes * 60)
  }
}

// The arithmetic is decimal, because a sum of numbers would round.
extension ExactDateText {
  /// Returns the whole seconds before a number of seconds, and the digits of the rest.
  private static func split(_ seconds: Double) -> (whole: Int, digits: String) {
    let (whole, digits) = decimal(seconds.magnitude)
    guard seconds < 0 else { return (whole, digits) }
    return digits.isEmpty ? (-whole, "") : (-whole - 1, complement(digits))
  }

  /// Returns the date of whole seconds and the digits of a fraction.
  private static func joined(_ whole: Int, _ digits: String) -> Date? {
    let isBefore = whole < 0 && digits.contains { $0 != "0" }
    let text = isBefore ? "-\(-whole - 1).\(complement(digits))" : "\(whole).\(digits)0"
    return Double(text).map(Date.init(timeIntervalSinceReferenceDate:))
  }

  /// Returns the shortest digits that read back to a number, without an exponent.
  private static func decimal(_ number: Double) -> (whole: Int, digits: String) {
    let parts = number.description.split(separator: "e")
    let mantissa = parts[0].split(separator: ".")
    let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    var (left, right) = (String(mantissa[0]), String(mantissa.dropFirst().first ?? ""))
    for _ in 0..<max(0, -exponent) { right.insert(left.popLast() ?? "0", at: right.startIndex) }
    for _ in 0..<max(0, exponent) {
      left.append(right.isEmpty ? "0" : right.removeFirst())
    }
    while right.last == "0" { right.removeLast() }
    return (Int(left) ?? 0, right)
  }

  /// Returns the digits of one minus a fraction; at least one digit is not zero.
  private static func complement(_ digits: String) -> String {
    let significant = digits.reversed().drop { $0 == "0" }.reversed()
    let nines = significant.dropLast().map { 9 - ($0.wholeNumberValue ?? 0) }
    let last = 10 - (significant.last?.wholeNumberValue ?? 0)
    return (nines + [last]).map(String.init).joined()
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
}

// The calendar is Gregorian throughout, as in ISO 8601; days count from the first of 2001.
extension ExactDateText {
  private static func floorDivision(_ number: Int, _ divisor: Int) -> Int {
    number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
  }

  /// Returns the days before a year.
  private static func days(beforeYear year: Int) -> Int {
    let before = year - 1
    return before * 365 + before / 4 - before / 100 + before / 400 - 730_485
  }

  private static func days(ofMonth month: Int, _ year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }

  private static func day(year: Int, month: Int, day: Int) -> Int? {
    guard 1...12 ~= month, 1...days(ofMonth: month, year) ~= day else { return nil }
    return days(beforeYear: year)
      + (1..<month).reduce(0) { $0 + days(ofMonth: $1, year) } + day - 1
  }

  private static func civil(fromDay day: Int) -> (year: Int, month: Int, day: Int) {
    var year = 2001 + floorDivision(day * 400, 146_097)
    while days(beforeYear: year) > day { year -= 1 }
    while days(beforeYear: year + 1) <= day { year += 1 }
    var (month, rest) = (1, day - days(beforeYear: year))
    while rest >= days(ofMonth: month, year) {
      rest -= days(ofMonth: month, year)
      month += 1
    }
    return (year, month, rest + 1)
  }
}
