internal import Foundation

/// The fractions of seconds that dates lose in a property list of XML.
///
/// They are kept beside the value, under a key of their own, as the exact dates of the value in
/// their order, so that other programs still see dates.
enum ExactDates {
  private static let prefix = "PrephirencesExactDates."

  /// The key beside a key.
  static func key(beside key: PreferenceKey) -> PreferenceKey { prefix + key }

  /// Whether a key is one beside another.
  static func isBeside(_ key: PreferenceKey) -> Bool {
    // By bytes: a key may begin with what joins the character before it.
    key.utf8.starts(with: prefix.utf8)
  }

  /// Returns what is to be kept beside a value; `nil` if it has no fractions.
  static func list(of form: Any) -> [Double]? {
    var dates: [Double] = []
    visit(form) { date in
      dates.append(date.timeIntervalSinceReferenceDate)
      return date
    }
    return dates.allSatisfy { $0.rounded() == $0 } ? nil : dates
  }

  /// Returns whether a value has dates in it.
  static func hasDates(_ value: Any) -> Bool {
    var found = false
    visit(value) { date in
      found = true
      return date
    }
    return found
  }

  /// Returns a value with the exact dates, as far as they are still those of the value.
  static func restore(_ value: Any, _ list: Any?) -> Any {
    guard let list = list as? [Double] else { return value }
    var remaining = list[...]
    var agrees = true
    let restored = visit(value) { date in
      let exact = remaining.popFirst().map(Date.init(timeIntervalSinceReferenceDate:))
      guard let exact, isDate(date, leftOf: exact) else {
        agrees = false
        return date
      }
      return exact
    }
    return agrees && remaining.isEmpty ? restored : value
  }

  /// Whether a date is an exact one, or what a property list of XML leaves of it: its second.
  ///
  /// If not, another program, or Foundation's own setter, has set another date since.
  private static func isDate(_ date: Date, leftOf exact: Date) -> Bool {
    let seconds = date.timeIntervalSinceReferenceDate
    // What is next to the end of a second may be written as the second that follows.
    return date == exact
      || seconds.rounded() == seconds && -0.001..<1 ~= exact.timeIntervalSince(date)
  }

  /// Calls a function for each date, in an order that depends on nothing but the value.
  @discardableResult
  private static func visit(_ value: Any, _ body: (Date) -> Date) -> Any {
    switch value {
    case is String, is Bool, is Int, is Double, is Data: value
    case let date as Date: body(date)
    case let array as [Any]: array.map { visit($0, body) }
    case let dictionary as PreferencesDictionary:
      dictionary.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        .reduce(into: PreferencesDictionary()) { $0[$1.key] = visit($1.value, body) }
    default: value
    }
  }
}
