public import Foundation

/// Turns `Codable` values of one type into JSON, and back.
///
/// ```swift
/// let toJSON = JSONValueTransformer<Theme>()
/// preferences["theme", toJSON] = theme
/// ```
///
/// For values of no one type, such as a dictionary with values of several types, there is
/// ``JSONObjectTransformer``.
open class JSONValueTransformer<Value: Codable>: ValueTransformer {
  private let encoder: JSONEncoder?
  private let decoder: JSONDecoder?

  /// Makes a transformer.
  ///
  /// - Parameters:
  ///   - encoder: Encodes values; if it is `nil`, ``Prephirences/jsonEncoder`` does.
  ///   - decoder: Decodes values; if it is `nil`, ``Prephirences/jsonDecoder`` does.
  public init(encoder: JSONEncoder? = nil, decoder: JSONDecoder? = nil) {
    self.encoder = encoder
    self.decoder = decoder
    super.init()
  }

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
  /// - Returns: The JSON, as `Data`; `nil` if the value is of another type or cannot be encoded.
  open override func transformedValue(_ value: Any?) -> Any? {
    guard let value = value as? Value else { return nil }
    return try? (encoder ?? Prephirences.jsonEncoder).encode(value)
  }

  /// Returns the value of JSON data.
  ///
  /// - Parameter value: The JSON, as `Data`.
  /// - Returns: The value; `nil` if the data is no such value.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data else { return nil }
    return try? (decoder ?? Prephirences.jsonDecoder).decode(Value.self, from: data)
  }
}
