/// Days since 1 January 2001 in the Gregorian calendar, which is extended to before its
/// introduction.
package enum GregorianDay {
  /// Returns the number of a day.
  package static func number(_ year: Int, _ month: Int, _ day: Int) -> Int {
    // The year begins in March, so that the leap day is its last.
    let year = month > 2 ? year : year - 1
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let cycle = (year >= 0 ? year : year - 399) / 400
    let yearOfCycle = year - cycle * 400
    let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
    return cycle * 146_097 + dayOfCycle - 730_791
  }

  /// Returns the date of a day.
  package static func date(_ number: Int) -> (year: Int, month: Int, day: Int) {
    let number = number + 730_791
    let cycle = (number >= 0 ? number : number - 146_096) / 146_097
    let dayOfCycle = number - cycle * 146_097
    let yearOfCycle =
      (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    return (yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0), month, day)
  }

  /// Returns how many days a month has.
  package static func count(inMonth month: Int, _ year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }
}
