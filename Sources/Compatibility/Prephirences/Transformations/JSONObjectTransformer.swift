#if canImport(ObjectiveC)
public import Foundation
#else
internal import Foundation
#endif

/// Converts values that JSON supports (text, numbers, truth values, arrays and dictionaries of
/// these) to JSON and back.
open class JSONObjectTransformer: ValueTransformer {
  /// Returns the class of JSON data.
  ///
  /// - Returns: `NSData`.
  open override class func transformedValueClass() -> AnyClass { NSData.self }

  /// Returns that JSON can be converted back to values.
  ///
  /// - Returns: `true`.
  open override class func allowsReverseTransformation() -> Bool { true }

  /// Returns the JSON of a value.
  ///
  /// - Parameter value: The value.
  /// - Returns: The JSON, as `Data`; `nil` if JSON does not support the value.
  open override func transformedValue(_ value: Any?) -> Any? {
    // Wraps it in an array, because checking a value of another kind on its own stops the process.
    guard let value = unwrapped(value), JSONSerialization.isValidJSONObject([value]) else {
      return nil
    }
    return try? JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
  }

  /// Returns the value of JSON data.
  ///
  /// - Parameter value: The JSON, as `Data`.
  /// - Returns: The value; `nil` if the data is not JSON.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data else { return nil }
    return try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
  }
}
