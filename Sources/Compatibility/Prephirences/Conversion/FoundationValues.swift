internal import Foundation

extension NSNumber: BridgedValue {
  package var swiftValue: Any? {
    if let decimal = self as? NSDecimalNumber { return decimal.decimalValue }
    // Only the two truth values are unique number objects.
    if [true, false].contains(where: { self === NSNumber(value: $0) }) { return boolValue }
    return switch unsafe String(cString: objCType) {
    case "d": doubleValue
    case "f": floatValue
    case "Q": uint64Value
    default: intValue
    }
  }
}

extension NSNull: BridgedNull {}

extension NumberBoxing: NumberBoxer {
  package static func boxed(_ number: Any) -> Any { number as? NSNumber ?? number }
}
