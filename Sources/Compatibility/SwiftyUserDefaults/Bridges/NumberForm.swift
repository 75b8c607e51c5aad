internal import Foundation

/// Converts stored objects to numbers.
///
/// A cast from `NSNumber` to a number, or back, takes longer than the rest of a read, so each
/// function looks at the class first.
enum NumberForm {
  /// Returns an integer; the fraction of a number is dropped.
  static func integer(_ object: Any) -> Int? {
    guard let number = number(object) else {
      if let integer = object as? Int { return integer }
      if let text = object as? String { return Int(text) }
      if let truth = object as? Bool { return truth ? 1 : 0 }
      return (object as? NSNumber).flatMap(integer)
    }
    return integer(number)
  }

  private static func integer(_ number: NSNumber) -> Int? {
    switch unsafe UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"):
      Int(exactly: number.doubleValue.rounded(.towardZero))
    case UInt8(ascii: "Q"): Int(exactly: number.uint64Value)
    default: number.intValue
    }
  }

  static func double(_ object: Any) -> Double? {
    if let number = number(object) { return number.doubleValue }
    if let text = object as? String { return Double(text) }
    return (object as? NSNumber)?.doubleValue
  }

  /// Returns a number object; `nil` for a Swift number.
  private static func number(_ object: Any) -> NSNumber? {
    type(of: object) is AnyClass ? object as? NSNumber : nil
  }
}
