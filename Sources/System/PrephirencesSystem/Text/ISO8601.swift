/// A date in ISO 8601, such as `2027-01-31T12:00:00.5+01:00`, read without loss.
///
/// The calendar is Gregorian throughout. Years outside 0 to 9999 have a sign and at least four
/// digits: `-0043`, `+12345`. The year `0000` precedes the year 1. Moments are seconds since 1
/// January 2001 in UTC, as Foundation's reference date. Fractions are computed in decimal, because
/// sums of `Double` would be rounded.
package struct ISO8601: Equatable, Sendable {
  /// The seconds since 1 January 2001 that a clock at the place of the date shows.
  package let seconds: Int

  /// The digits of the fraction of a second.
  package let fraction: String

  /// How many seconds the place is ahead of UTC; `nil` if the text does not give an offset.
  package let offset: Int?

  /// Reads a day, or a date with at least hours and minutes.
  ///
  /// A space may separate day and time, and an offset may lack its colon. A leap second is read as
  /// the first second of the next minute.
  package init?(
    _ text: String, allowsLeapSecond: Bool = false, allowsSpaceBeforeOffset: Bool = false
  ) {
    var rest = Array(text.utf8)[...]
    func isNext(_ marks: StaticString) -> Bool {
      rest.first.map { marks.description.utf8.contains($0) } ?? false
    }
    func take(_ marks: StaticString) -> Bool {
      guard isNext(marks) else { return false }
      rest.removeFirst()
      return true
    }
    func number(_ width: Int) -> Int? {
      let digits = rest.prefix(width)
      guard digits.count == width, digits.allSatisfy(Self.isDigit) else { return nil }
      rest.removeFirst(width)
      return Int(String(decoding: digits, as: UTF8.self))
    }
    func year() -> Int? {
      guard isNext("+-") else { return number(4) }
      let sign = take("-") ? -1 : 1
      _ = take("+")
      let width = rest.prefix(while: Self.isDigit).count
      guard width >= (sign < 0 ? 4 : 5), let year = number(width), 1...Self.lastYear ~= year else {
        return nil
      }
      return sign * year
    }
    guard let year = year(), take("-"), let month = number(2), take("-"),
      let day = number(2), let days = Self.days(year: year, month: month, day: day)
    else { return nil }
    var (hour, minute, second, digits) = (0, 0, 0, "")
    var zone: Int?
    if take("Tt ") {
      guard let hours = number(2), take(":"), let minutes = number(2) else { return nil }
      (hour, minute) = (hours, minutes)
      if take(":") {
        guard let seconds = number(2) else { return nil }
        second = seconds
        if take(".,") {
          let taken = rest.prefix(while: Self.isDigit)
          guard !taken.isEmpty else { return nil }
          rest.removeFirst(taken.count)
          digits = String(decoding: taken, as: UTF8.self)
        }
      }
      let hasSpace = allowsSpaceBeforeOffset && take(" ")
      if take("Zz") {
        zone = 0
      } else if isNext("+-") {
        let sign = take("-") ? -1 : 1
        _ = take("+")
        guard let hours = number(2) else { return nil }
        _ = take(":")
        guard let minutes = number(2), hours < 24, minutes < 60 else { return nil }
        zone = sign * (hours * 3600 + minutes * 60)
      } else if hasSpace {
        return nil
      }
    }
    guard rest.isEmpty, hour < 24, minute < 60, second < (allowsLeapSecond ? 61 : 60) else {
      return nil
    }
    seconds = days * Self.secondsOfDay + hour * 3600 + minute * 60 + second
    (fraction, offset) = (digits, zone)
  }

  /// Returns the moment when clocks that are so many seconds ahead of UTC show the date.
  package func interval(offset: Int) -> Double? {
    let whole = seconds - offset
    guard whole < 0, fraction.contains(where: { $0 != "0" }) else {
      return Double("\(whole).\(fraction)0")
    }
    return Double("-\(-whole - 1).\(Self.complement(fraction))")
  }

  /// Returns a moment in UTC with as many digits of a second as are needed to read back the same
  /// number; `nil` if its whole seconds need more than 62 bits.
  package static func text(_ interval: Double) -> String? {
    guard interval.magnitude < limit else { return nil }
    let (whole, digits) = split(interval)
    return text(seconds: whole, fraction: digits)
  }

  /// Returns a moment in UTC, rounded down to a second; `nil` as ``text(_:)``.
  package static func textInSeconds(_ interval: Double) -> String? {
    guard interval.magnitude < limit else { return nil }
    return text(seconds: Int(interval.rounded(.down)), fraction: "")
  }

  private static func text(seconds: Int, fraction: String) -> String {
    let day = floorDivision(seconds, secondsOfDay)
    let second = seconds - day * secondsOfDay
    let (year, month, dayOfMonth) = GregorianDay.date(day)
    let time = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }
    let sign = year < 0 ? "-" : year > 9999 ? "+" : ""
    return "\(sign)\(padded(abs(year), 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
      + "T\(time.joined(separator: ":"))\(fraction.isEmpty ? "" : ".")\(fraction)Z"
  }

  private static let secondsOfDay = 86_400

  /// The seconds of 146 thousand million years, below which the arithmetic fits into 64 bits.
  private static let limit = 0x1p62

  /// A year whose seconds have fewer than 63 bits.
  private static let lastYear = 200_000_000_000

  private static func isDigit(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }

  // MARK: - Decimal arithmetic

  /// Splits a number of seconds into whole seconds, rounded down, and the digits of the rest.
  private static func split(_ seconds: Double) -> (whole: Int, digits: String) {
    let (whole, digits) = decimal(seconds.magnitude)
    guard seconds < 0 else { return (whole, digits) }
    return digits.isEmpty ? (-whole, "") : (-whole - 1, complement(digits))
  }

  /// Returns the shortest digits that read back to the number, without an exponent.
  private static func decimal(_ number: Double) -> (whole: Int, digits: String) {
    let parts = number.description.split(separator: "e")
    let mantissa = parts[0].split(separator: ".")
    let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    var (left, right) = (String(mantissa[0]), String(mantissa.dropFirst().first ?? ""))
    for _ in 0..<max(0, -exponent) { right.insert(left.popLast() ?? "0", at: right.startIndex) }
    for _ in 0..<max(0, exponent) { left.append(right.isEmpty ? "0" : right.removeFirst()) }
    while right.last == "0" { right.removeLast() }
    return (Int(left) ?? 0, right)
  }

  /// Returns the digits of one minus a fraction, of which at least one digit is not zero.
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

  // MARK: - Calendar

  private static func floorDivision(_ number: Int, _ divisor: Int) -> Int {
    number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
  }

  /// Returns the number of a day; `nil` if there is no such day.
  private static func days(year: Int, month: Int, day: Int) -> Int? {
    guard 1...12 ~= month, 1...GregorianDay.count(inMonth: month, year) ~= day else {
      return nil
    }
    return GregorianDay.number(year, month, day)
  }
}
