public import Foundation

extension String: DefaultsSerializable {
  /// The bridge of text.
  public static var _defaults: DefaultsStringBridge { DefaultsStringBridge() }

  /// The bridge of an array of text.
  public static var _defaultsArray: DefaultsArrayBridge<[String]> { DefaultsArrayBridge() }
}

extension Int: DefaultsSerializable {
  /// The bridge of an integer.
  public static var _defaults: DefaultsIntBridge { DefaultsIntBridge() }

  /// The bridge of an array of integers.
  public static var _defaultsArray: DefaultsArrayBridge<[Int]> { DefaultsArrayBridge() }
}

extension Double: DefaultsSerializable {
  /// The bridge of a number.
  public static var _defaults: DefaultsDoubleBridge { DefaultsDoubleBridge() }

  /// The bridge of an array of numbers.
  public static var _defaultsArray: DefaultsArrayBridge<[Double]> { DefaultsArrayBridge() }
}

extension Bool: DefaultsSerializable {
  /// The bridge of a truth value.
  public static var _defaults: DefaultsBoolBridge { DefaultsBoolBridge() }

  /// The bridge of an array of truth values.
  public static var _defaultsArray: DefaultsArrayBridge<[Bool]> { DefaultsArrayBridge() }
}

extension Data: DefaultsSerializable {
  /// The bridge of bytes.
  public static var _defaults: DefaultsDataBridge { DefaultsDataBridge() }

  /// The bridge of an array of bytes.
  public static var _defaultsArray: DefaultsArrayBridge<[Data]> { DefaultsArrayBridge() }
}

extension Date: DefaultsSerializable {
  /// The bridge of a date.
  public static var _defaults: DefaultsObjectBridge<Date> { DefaultsObjectBridge() }

  /// The bridge of an array of dates.
  public static var _defaultsArray: DefaultsArrayBridge<[Date]> { DefaultsArrayBridge() }
}

extension URL: DefaultsSerializable {
  /// The bridge of a URL.
  public static var _defaults: DefaultsUrlBridge { DefaultsUrlBridge() }

  /// The bridge of an array of URLs.
  public static var _defaultsArray: DefaultsNestedArrayBridge<URL> { DefaultsNestedArrayBridge() }
}

extension UUID: DefaultsSerializable {
  /// The bridge of a UUID.
  public static var _defaults: DefaultsObjectBridge<UUID> { DefaultsObjectBridge() }

  /// The bridge of an array of UUIDs.
  public static var _defaultsArray: DefaultsArrayBridge<[UUID]> { DefaultsArrayBridge() }
}
