public import Foundation

extension String: DefaultsSerializable {
  /// The bridge of text.
  @inlinable public static var _defaults: DefaultsStringBridge { DefaultsStringBridge() }

  /// The bridge of an array of text.
  @inlinable public static var _defaultsArray: DefaultsArrayBridge<[String]> {
    DefaultsArrayBridge()
  }
}

extension Int: DefaultsSerializable {
  /// The bridge of an integer.
  @inlinable public static var _defaults: DefaultsIntBridge { DefaultsIntBridge() }

  /// The bridge of an array of integers.
  @inlinable public static var _defaultsArray: DefaultsArrayBridge<[Int]> { DefaultsArrayBridge() }
}

extension Double: DefaultsSerializable {
  /// The bridge of a number.
  @inlinable public static var _defaults: DefaultsDoubleBridge { DefaultsDoubleBridge() }

  /// The bridge of an array of numbers.
  @inlinable public static var _defaultsArray: DefaultsArrayBridge<[Double]> {
    DefaultsArrayBridge()
  }
}

extension Bool: DefaultsSerializable {
  /// The bridge of a truth value.
  @inlinable public static var _defaults: DefaultsBoolBridge { DefaultsBoolBridge() }

  /// The bridge of an array of truth values.
  @inlinable public static var _defaultsArray: DefaultsArrayBridge<[Bool]> { DefaultsArrayBridge() }
}

extension Data: DefaultsSerializable {
  /// The bridge of bytes.
  @inlinable public static var _defaults: DefaultsDataBridge { DefaultsDataBridge() }

  /// The bridge of an array of bytes.
  @inlinable public static var _defaultsArray: DefaultsArrayBridge<[Data]> { DefaultsArrayBridge() }
}

extension Date: DefaultsSerializable {
  /// The bridge of a date.
  @inlinable public static var _defaults: DefaultsObjectBridge<Date> { DefaultsObjectBridge() }

  /// The bridge of an array of dates.
  @inlinable public static var _defaultsArray: DefaultsArrayBridge<[Date]> { DefaultsArrayBridge() }
}

extension URL: DefaultsSerializable {
  /// The bridge of a URL.
  @inlinable public static var _defaults: DefaultsUrlBridge { DefaultsUrlBridge() }

  /// The bridge of an array of URLs.
  @inlinable public static var _defaultsArray: DefaultsNestedArrayBridge<URL> {
    DefaultsNestedArrayBridge()
  }
}

extension UUID: DefaultsSerializable {
  /// The bridge of a UUID.
  @inlinable public static var _defaults: DefaultsObjectBridge<UUID> { DefaultsObjectBridge() }

  /// The bridge of an array of UUIDs.
  @inlinable public static var _defaultsArray: DefaultsArrayBridge<[UUID]> { DefaultsArrayBridge() }
}
