internal import FoundationEssentials

/// The fractions of seconds that dates lose in an XML property list.
///
/// They are stored under a separate key, as the list of the value's exact dates in order, so that
/// other programs still read dates.
package enum ExactDates {
  private static let prefix = "PrephirencesExactDates."

  /// Returns the key for the exact dates of a key.
  package static func key(beside key: PreferenceKey) -> PreferenceKey { prefix + key }

  /// Returns whether a key is for exact dates.
  package static func isBeside(_ key: PreferenceKey) -> Bool {
    // Compares bytes: a key may begin with a character that combines with the one before it.
    key.utf8.starts(with: prefix.utf8)
  }

  /// Returns the exact dates to store for a value; `nil` if no date has a fraction.
  package static func list(of form: Any) -> [Double]? {
    var dates: [Double] = []
    visit(form) { date in
      dates.append(date.timeIntervalSinceReferenceDate)
      return date
    }
    return dates.allSatisfy { $0.rounded() == $0 } ? nil : dates
  }

  /// Returns whether a value contains dates.
  package static func hasDates(_ value: Any) -> Bool {
    var found = false
    visit(value) { date in
      found = true
      return date
    }
    return found
  }

  /// Returns a value with its exact dates, if they still match the value.
  package static func restore(_ value: Any, _ list: Any?) -> Any {
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

  /// Returns whether a date is the exact one, or the whole second that an XML property list keeps.
  ///
  /// If not, another program or Foundation's own setter has set a different date since.
  private static func isDate(_ date: Date, leftOf exact: Date) -> Bool {
    let seconds = date.timeIntervalSinceReferenceDate
    // A date close to the end of a second may be written as the next second.
    return date == exact
      || seconds.rounded() == seconds && -0.001..<1 ~= exact.timeIntervalSince(date)
  }

  /// Calls a function for each date, in an order that only the value determines.
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
