public import Foundation

#if canImport(ObjectiveC)
#else
#endif

/// Turns objects into their archives, and back.
///
/// It accepts the objects of ``TransformationKey/archive``; any other object becomes `nil`.
open class ArchiveValueTransformer: ValueTransformer {
  /// Returns the class of archives.
  ///
  /// - Returns: `NSData`.
  open override class func transformedValueClass() -> AnyClass { NSData.self }

  /// Returns that archives can be converted back to objects.
  ///
  /// - Returns: `true`.
  open override class func allowsReverseTransformation() -> Bool { true }

  /// Returns the archive of an object.
  ///
  /// - Parameter value: The object.
  /// - Returns: The archive, as `Data`; `nil` if the object cannot be archived.
  open override func transformedValue(_ value: Any?) -> Any? {
    TransformationKey.archive.transformedValue(value)
  }

  /// Returns the object of an archive.
  ///
  /// - Parameter value: The archive, as `Data`.
  /// - Returns: The object; `nil` if the data is not an archive.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    TransformationKey.archive.reverseTransformedValue(value)
  }
}

#if canImport(ObjectiveC)
#else
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

/// Converts `Codable` values of one type to JSON and back.
///
/// ```swift
/// let toJSON = JSONValueTransformer<Theme>()
/// preferences["theme", toJSON] = theme
/// ```
///
/// For values of several types, such as a dictionary of mixed values, use
/// ``JSONObjectTransformer``.
open class JSONValueTransformer<Value: Codable>: ValueTransformer {
  private let encoder: JSONEncoder?
  private let decoder: JSONDecoder?

  /// Creates a transformer.
  ///
  /// - Parameters:
  ///   - encoder: The encoder; if it is `nil`, ``Prephirences/jsonEncoder``.
  ///   - decoder: The decoder; if it is `nil`, ``Prephirences/jsonDecoder``.
  public init(encoder: JSONEncoder? = nil, decoder: JSONDecoder? = nil) {
    self.encoder = encoder
    self.decoder = decoder
    super.init()
  }

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
  /// - Returns: The JSON, as `Data`; `nil` if the value is of another type or cannot be encoded.
  open override func transformedValue(_ value: Any?) -> Any? {
    guard let value = value as? Value else { return nil }
    return try? (encoder ?? Prephirences.jsonEncoder).encode(value)
  }

  /// Returns the value of JSON data.
  ///
  /// - Parameter value: The JSON, as `Data`.
  /// - Returns: The value; `nil` if the data cannot be decoded as this type.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data else { return nil }
    return try? (decoder ?? Prephirences.jsonDecoder).decode(Value.self, from: data)
  }
}
