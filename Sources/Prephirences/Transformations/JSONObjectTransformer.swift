#if canImport(ObjectiveC)
public import Foundation
#else
internal import Foundation
#endif

/// Turns what JSON can have (text, numbers, truth values, arrays and dictionaries of these) into
/// JSON, and back.
open class JSONObjectTransformer: ValueTransformer {
  /// Returns the class of JSON data.
  ///
  /// - Returns: `NSData`.
  open override class func transformedValueClass() -> AnyClass { NSData.self }

  /// Returns that JSON becomes values again.
  ///
  /// - Returns: `true`.
  open override class func allowsReverseTransformation() -> Bool { true }

  /// Returns the JSON of a value.
  ///
  /// - Parameter value: The value.
  /// - Returns: The JSON, as `Data`; `nil` if JSON has no such value.
  open override func transformedValue(_ value: Any?) -> Any? {
    // An array around it, as a value of another kind stops the process if it is looked at alone.
    guard let value = unwrapped(value), JSONSerialization.isValidJSONObject([value]) else {
      return nil
    }
    return try? JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
  }

  /// Returns the value of JSON data.
  ///
  /// - Parameter value: The JSON, as `Data`.
  /// - Returns: The value; `nil` if the data is no JSON.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data else { return nil }
    return try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
  }
}
