package import Foundation
package import PreferencesCore

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

  package var exactValue: Any? {
    unsafe String(cString: objCType) == "f" ? floatValue : swiftValue
  }

  package var numberText: String? { stringValue }

  package var isSinglePrecision: Bool { unsafe String(cString: objCType) == "f" }
}

extension NSNull: BridgedNull {}

extension NumberBoxing: NumberBoxer {
  package static func object(of number: Any) -> Any {
    if let number = number as? NSNumber { return number }
    return switch number {
    case let number as CGFloat: NSNumber(value: Double(number))
    case let number as any BinaryInteger:
      Int(exactly: number).map { NSNumber(value: $0) } ?? UInt64(exactly: number).map {
        NSNumber(value: $0)
      } ?? number
    case let number as any BinaryFloatingPoint: exact(number)
    default: number
    }
  }

  private static func exact(_ number: some BinaryFloatingPoint) -> Any {
    let double = Double(number)
    return number.isNaN || type(of: number).init(double) == number
      ? NSNumber(value: double) : number
  }
}

extension CGFloat: BridgedValue {
  package var swiftValue: Any? { Double(self) }
  package var numberText: String? { Double(self).description }
}

extension CGFloat: PlainPreferenceValue {
  package static func converted(from value: Any) -> CGFloat? {
    // The generic initializers of `CGFloat` stop the process.
    Double.converted(from: value).map { CGFloat($0) }
  }
}

extension PropertyListReader.Format {
  /// Takes Foundation's name of a format.
  package init(_ format: PropertyListSerialization.PropertyListFormat) {
    self =
      switch format {
      case .xml: .xml
      case .binary: .binary
      default: .openStep
      }
  }

  /// Foundation's name of the format.
  package var foundationFormat: PropertyListSerialization.PropertyListFormat {
    switch self {
    case .xml: .xml
    case .binary: .binary
    case .openStep: .openStep
    }
  }
}
