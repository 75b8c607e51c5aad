public import Foundation

extension Bool: PalauDefaultable {}
extension Int: PalauDefaultable {}
extension Int8: PalauDefaultable {}
extension Int16: PalauDefaultable {}
extension Int32: PalauDefaultable {}
extension Int64: PalauDefaultable {}
extension UInt: PalauDefaultable {}
extension UInt8: PalauDefaultable {}
extension UInt16: PalauDefaultable {}
extension UInt32: PalauDefaultable {}
extension UInt64: PalauDefaultable {}
extension Float: PalauDefaultable {}
extension Double: PalauDefaultable {}
extension CGFloat: PalauDefaultable {}
extension Decimal: PalauDefaultable {}
extension String: PalauDefaultable {}
extension Date: PalauDefaultable {}
extension Data: PalauDefaultable {}
extension URL: PalauDefaultable {}
extension UUID: PalauDefaultable {}
extension Array: PalauDefaultable {}
extension Dictionary: PalauDefaultable {}

extension NSNumber: PalauDefaultable {
  /// The type of the value.
  public typealias ValueType = NSNumber
}

extension NSString: PalauDefaultable {
  /// The type of the value.
  public typealias ValueType = NSString
}

extension NSArray: PalauDefaultable {
  /// The type of the value.
  public typealias ValueType = NSArray
}

extension NSDictionary: PalauDefaultable {
  /// The type of the value.
  public typealias ValueType = NSDictionary
}

extension NSDate: PalauDefaultable {
  /// The type of the value.
  public typealias ValueType = NSDate
}

extension NSData: PalauDefaultable {
  /// The type of the value.
  public typealias ValueType = NSData
}
