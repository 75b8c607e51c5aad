internal import Foundation

/// A date in ISO 8601, such as `2026-11-22T12:02:15.1234567Z`, without loss.
///
/// The fraction has as many digits as needed to read the same date again. They are the digits of
/// the shortest decimal number with the same `Double` value, so no calculation can round them.
enum StoredDate {
  /// The years that have four digits.
  private static let years = 1...9999

  private static let secondsOfDay = 86_400

  /// Returns the text of a date in UTC.
  ///
  /// - Parameter date: The date.
  /// - Returns: The text; `nil` outside the years 1 to 9999, and within 0.1 ms of the beginning of
  ///   2001, which would need hundreds of digits.
  static func text(of date: Date) -> String? {
    let interval = date.timeIntervalSinceReferenceDate
    guard let (seconds, fraction) = split(interval.description),
      let day = Day(seconds.dividedDown(by: secondsOfDay)), years.contains(day.year)
    else { return nil }
    let time = seconds - day.number * secondsOfDay
    let numbers = [day.month, day.day, time / 3600, time / 60 % 60, time % 60]
    let texts = [day.year.padded(to: 4)] + numbers.map { $0.padded(to: 2) }
    return texts[0...2].joined(separator: "-") + "T" + texts[3...5].joined(separator: ":")
      + (fraction.isEmpty ? "" : ".\(fraction)") + "Z"
  }

  /// Reads a date with its time and zone; the fraction may have any number of digits.
  ///
  /// - Parameter text: The text, with `Z` or an offset such as `+01:00`.
  /// - Returns: The date, or `nil` if the text is not a date.
  static func date(of text: String) -> Date? {
    let bytes = Array(text.utf8)
    guard bytes.count > lengthWithoutFraction, separators.allSatisfy({ $1.contains(bytes[$0]) }),
      let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
      let day = number(bytes[8..<10]), let date = Day(year: year, month: month, day: day),
      let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]),
      let second = number(bytes[17..<19]), years.contains(year),
      // A leap second is the first second of the next minute.
      hour < 24, minute < 60, second <= 60
    else { return nil }
    var rest = bytes[lengthWithoutFraction...]
    guard let fraction = takeFraction(&rest), let offset = offset(rest) else { return nil }
    let seconds = date.number * secondsOfDay + hour * 3600 + minute * 60 + second - offset
    return interval(seconds, fraction: fraction).map(Date.init(timeIntervalSinceReferenceDate:))
  }

  private static let lengthWithoutFraction = 19
  private static let separators: [(place: Int, Set<UInt8>)] = [
    (4, Set("-".utf8)), (7, Set("-".utf8)), (10, Set("Tt ".utf8)), (13, Set(":".utf8)),
    (16, Set(":".utf8)),
  ]

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    guard digits.allSatisfy(isDigit) else { return nil }
    return Int(String(decoding: digits, as: UTF8.self))
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }

  /// Returns the digits after the point or comma; empty if there is neither, `nil` if they are
  /// missing.
  private static func takeFraction(_ text: inout ArraySlice<UInt8>) -> String? {
    guard let first = text.first, ".,".utf8.contains(first) else { return "" }
    let digits = text.dropFirst().prefix(while: isDigit)
    text = text[digits.endIndex...]
    return digits.isEmpty ? nil : String(decoding: digits, as: UTF8.self)
  }

  /// Returns how many seconds a time zone is ahead of UTC.
  private static func offset(_ text: ArraySlice<UInt8>) -> Int? {
    guard let sign = text.first else { return nil }
    if "Zz".utf8.contains(sign) { return text.count == 1 ? 0 : nil }
    let digits = text.dropFirst().filter { $0 != UInt8(ascii: ":") }
    guard "+-".utf8.contains(sign), digits.count == 4, text.count <= 6,
      let hours = number(digits[0..<2]), let minutes = number(digits[2..<4]), hours < 24,
      minutes < 60
    else { return nil }
    return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60)
  }

  /// Splits a decimal number into the whole number below it and the digits of the rest.
  private static func split(_ text: String) -> (seconds: Int, fraction: String)? {
    let parts = text.drop { $0 == "-" }.split(separator: ".").map(String.init)
    // Numbers with an exponent cannot be split, nor can `inf` and `nan`.
    guard parts.count == 2, let whole = Int(parts[0]), parts[1].allSatisfy(\.isNumber) else {
      return nil
    }
    let fraction = parts[1] == "0" ? "" : parts[1]
    guard text.hasPrefix("-") else { return (whole, fraction) }
    return fraction.isEmpty ? (-whole, "") : (-whole - 1, complement(of: fraction))
  }

  private static func interval(_ seconds: Int, fraction: String) -> Double? {
    guard seconds < 0, fraction.contains(where: { $0 != "0" }) else {
      return Double("\(seconds).\(fraction)0")
    }
    return Double("-\(-seconds - 1).\(complement(of: fraction))")
  }

  /// Returns the digits of one minus the fraction: `75` for `25`.
  private static func complement(of digits: String) -> String {
    let count = digits.reversed().prefix { $0 == "0" }.count
    let kept = digits.dropLast(count).compactMap(\.wholeNumberValue)
    guard let last = kept.last else { return digits }
    let complements = kept.dropLast().map { 9 - $0 } + [10 - last]
    return complements.map(String.init).joined() + String(repeating: "0", count: count)
  }
}

/// A day of the Gregorian calendar, which is extended backwards.
private struct Day {
  /// The days since 2001-01-01.
  let number: Int

  let year: Int
  let month: Int
  let day: Int

  init?(_ number: Int) {
    guard abs(number) < 4_000_000 else { return nil }
    // The right year, or the one after it.
    var year = 2001 + (number * 400).dividedDown(by: 146_097) + 1
    while Self.number(of: year, 1) > number { year -= 1 }
    let month = (1...12).last { Self.number(of: year, $0) <= number } ?? 1
    self.number = number
    self.year = year
    self.month = month
    day = number - Self.number(of: year, month) + 1
  }

  init?(year: Int, month: Int, day: Int) {
    guard (1...12).contains(month) else { return nil }
    let first = Self.number(of: year, month)
    guard day >= 1, first + day <= Self.number(of: year, month + 1) else { return nil }
    (number, self.year, self.month, self.day) = (first + day - 1, year, month, day)
  }

  /// Returns the number of the first day of a month; months above 12 continue in the next year.
  private static func number(of year: Int, _ month: Int) -> Int {
    // The year begins in March, so that a leap day is its last day.
    let year = (year * 12 + month - 3).dividedDown(by: 12)
    let leapDays =
      year.dividedDown(by: 4) - year.dividedDown(by: 100) + year.dividedDown(by: 400)
    let daysBefore = [0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337]
    // 2001-01-01 is this many days after March 1st of the year 0.
    return year * 365 + leapDays + daysBefore[(month + 9) % 12] - 730_791
  }
}

extension Int {
  /// Returns the quotient, rounded down.
  fileprivate func dividedDown(by divisor: Int) -> Int {
    self >= 0 ? self / divisor : -((divisor - 1 - self) / divisor)
  }

  fileprivate func padded(to count: Int) -> String {
    let text = String(self)
    return String(repeating: "0", count: Swift.max(0, count - text.count)) + text
  }
}
