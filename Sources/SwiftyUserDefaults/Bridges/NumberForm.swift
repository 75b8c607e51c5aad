internal import Foundation

/// Converts stored objects to numbers.
enum NumberForm {
  /// Returns an integer; the fraction of a number is dropped.
  static func integer(_ object: Any) -> Int? {
    if let integer = object as? Int { return integer }
    if let text = object as? String { return Int(text) }
    if let truth = object as? Bool { return truth ? 1 : 0 }
    guard let number = (object as? NSNumber)?.doubleValue else { return nil }
    let integer = number.rounded(.towardZero)
    // A number without a fraction that is not an `Int` is too large.
    return integer == number ? nil : Int(exactly: integer)
  }

  static func double(_ object: Any) -> Double? {
    if let text = object as? String { return Double(text) }
    return (object as? NSNumber)?.doubleValue
  }
}
