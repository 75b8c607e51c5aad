public import Foundation

// The number types that the original library does not support.

extension Float: DefaultsSerializable {
  /// The bridge of a number.
  public static var _defaults: DefaultsNumberBridge<Float> { DefaultsNumberBridge() }

  /// The bridge of an array of numbers.
  public static var _defaultsArray: DefaultsArrayBridge<[Float]> { DefaultsArrayBridge() }
}

extension CGFloat: DefaultsSerializable {
  /// The bridge of a number.
  public static var _defaults: DefaultsNumberBridge<CGFloat> { DefaultsNumberBridge() }

  /// The bridge of an array of numbers.
  public static var _defaultsArray: DefaultsArrayBridge<[CGFloat]> { DefaultsArrayBridge() }
}

extension Decimal: DefaultsSerializable {
  /// The bridge of a number.
  public static var _defaults: DefaultsNumberBridge<Decimal> { DefaultsNumberBridge() }

  /// The bridge of an array of numbers.
  public static var _defaultsArray: DefaultsArrayBridge<[Decimal]> { DefaultsArrayBridge() }
}

extension UInt: DefaultsSerializable {
  /// The bridge of a number.
  public static var _defaults: DefaultsNumberBridge<UInt> { DefaultsNumberBridge() }

  /// The bridge of an array of numbers.
  public static var _defaultsArray: DefaultsArrayBridge<[UInt]> { DefaultsArrayBridge() }
}

extension Int8: DefaultsSerializable {
  /// The bridge of a number.
  public static var _defaults: DefaultsNumberBridge<Int8> { DefaultsNumberBridge() }

  /// The bridge of an array of numbers.
  public static var _defaultsArray: DefaultsArrayBridge<[Int8]> { DefaultsArrayBridge() }
}

extension Int16: DefaultsSerializable {
  /// The bridge of a number.
  public static var _defaults: DefaultsNumberBridge<Int16> { DefaultsNumberBridge() }

  /// The bridge of an array of numbers.
  public static var _defaultsArray: DefaultsArrayBridge<[Int16]> { DefaultsArrayBridge() }
}

extension Int32: DefaultsSerializable {
  /// The bridge of a number.
  public static var _defaults: DefaultsNumberBridge<Int32> { DefaultsNumberBridge() }

  /// The bridge of an array of numbers.
  public static var _defaultsArray: DefaultsArrayBridge<[Int32]> { DefaultsArrayBridge() }
}

extension Int64: DefaultsSerializable {
  /// The bridge of a number.
  public static var _defaults: DefaultsNumberBridge<Int64> { DefaultsNumberBridge() }

  /// The bridge of an array of numbers.
  public static var _defaultsArray: DefaultsArrayBridge<[Int64]> { DefaultsArrayBridge() }
}

extension UInt8: DefaultsSerializable {
  /// The bridge of a number.
  public static var _defaults: DefaultsNumberBridge<UInt8> { DefaultsNumberBridge() }

  /// The bridge of an array of numbers.
  public static var _defaultsArray: DefaultsArrayBridge<[UInt8]> { DefaultsArrayBridge() }
}

extension UInt16: DefaultsSerializable {
  /// The bridge of a number.
  public static var _defaults: DefaultsNumberBridge<UInt16> { DefaultsNumberBridge() }

  /// The bridge of an array of numbers.
  public static var _defaultsArray: DefaultsArrayBridge<[UInt16]> { DefaultsArrayBridge() }
}

extension UInt32: DefaultsSerializable {
  /// The bridge of a number.
  public static var _defaults: DefaultsNumberBridge<UInt32> { DefaultsNumberBridge() }

  /// The bridge of an array of numbers.
  public static var _defaultsArray: DefaultsArrayBridge<[UInt32]> { DefaultsArrayBridge() }
}

extension UInt64: DefaultsSerializable {
  /// The bridge of a number.
  public static var _defaults: DefaultsNumberBridge<UInt64> { DefaultsNumberBridge() }

  /// The bridge of an array of numbers.
  public static var _defaultsArray: DefaultsArrayBridge<[UInt64]> { DefaultsArrayBridge() }
}
