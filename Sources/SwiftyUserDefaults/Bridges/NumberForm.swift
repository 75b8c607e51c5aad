internal import Foundation

/// Converts stored objects to numbers.
enum NumberForm {
  /// Returns an integer; the fraction of a number is dropped.
  static func integer(_ object: Any) -> Int? {
    if let integer = object as? Int { return integer }
    if let text = object as? String { return Int(text) }
    guard let number = object as? NSNumber else { return nil }
    let value = number.doubleValue.rounded(.towardZero)
    // A number that is not an integer of this width but has no fraction either is too large.
    return value == number.doubleValue ? nil : Int(exactly: value)
  }

  static func double(_ object: Any) -> Double? {
    if let text = object as? String { return Double(text) }
    return (object as? NSNumber)?.doubleValue
  }
}
