public import Foundation

#if !canImport(ObjectiveC)
/// Converts values and, if possible, converts them back: Apple's Foundation class, which Foundation
/// on other systems lacks.
///
/// A subclass overrides ``transformedValue(_:)`` and, if it is reversible,
/// ``allowsReverseTransformation()`` and ``reverseTransformedValue(_:)``. Transformers that several
/// threads use must be thread-safe.
open class ValueTransformer: NSObject, NamedValueTransformer {
  /// Creates a transformer.
  public override init() { super.init() }

  /// Returns the class of the transformed values.
  ///
  /// - Returns: The class; `NSObject` by default.
  open class func transformedValueClass() -> AnyClass { NSObject.self }

  /// Returns whether the transformation can be reversed.
  ///
  /// - Returns: `true` by default.
  open class func allowsReverseTransformation() -> Bool { true }

  /// Returns the transformed value.
  ///
  /// - Returns: The transformed value; `nil` by default.
  open func transformedValue(_ value: Any?) -> Any? { nil }

  /// Returns the original of a transformed value.
  ///
  /// - Returns: The original. By default it is the transformed value, as for a transformation that
  ///   is its own reverse; `nil` if the transformation is not reversible.
  open func reverseTransformedValue(_ value: Any?) -> Any? {
    Self.allowsReverseTransformation() ? transformedValue(value) : nil
  }
}

/// The name of a transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  /// The name.
  public let rawValue: String

  /// Creates a name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a name.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// The transformer from `true` to `false` and back.
  public static let negateBooleanTransformerName = Self("NSNegateBoolean")

  /// The transformer that returns whether a value is `nil`.
  public static let isNilTransformerName = Self("NSIsNil")

  /// The transformer that returns whether a value is not `nil`.
  public static let isNotNilTransformerName = Self("NSIsNotNil")

  /// The transformer from archives to objects and back.
  public static let keyedUnarchiveFromDataTransformerName = Self("NSKeyedUnarchiveFromData")

  /// The transformer from archives to objects and back; an alias of
  /// ``keyedUnarchiveFromDataTransformerName``.
  public static let secureUnarchiveFromDataTransformerName = Self("NSSecureUnarchiveFromData")
}

/// A type whose instances are found by name: transformers.
public protocol NamedValueTransformer {}

extension NamedValueTransformer {
  /// Finds the transformer with a name; `nil` if this class has none.
  public init?(forName name: NSValueTransformerName) {
    guard let transformer = ValueTransformer.named.withLock({ $0[name] }) as? Self else {
      return nil
    }
    // Returns the registered object itself, so that it keeps its identity.
    self = transformer
  }
}

extension ValueTransformer {
  fileprivate static let named = Guarded<[NSValueTransformerName: ValueTransformer]>([
    .negateBooleanTransformerName: NegatingTransformer(),
    .isNilTransformerName: IsNilTransformer(),
    .isNotNilTransformerName: IsNotNilTransformer(),
    .keyedUnarchiveFromDataTransformerName: UnarchivingTransformer(),
    .secureUnarchiveFromDataTransformerName: UnarchivingTransformer(),
  ])

  /// Sets or removes the transformer of a name.
  ///
  /// - Parameter transformer: The transformer, which replaces any with the same name; `nil` removes
  ///   the name.
  public class func setValueTransformer(
    _ transformer: ValueTransformer?, forName name: NSValueTransformerName
  ) {
    named.withLock { $0[name] = transformer }
  }

  /// Returns the names of all transformers.
  ///
  /// - Returns: The names, in no order.
  public class func valueTransformerNames() -> [NSValueTransformerName] {
    named.withLock { Array($0.keys) }
  }
}

private final class NegatingTransformer: ValueTransformer {
  override func transformedValue(_ value: Any?) -> Any? {
    PreferenceCast.cast(value, to: Bool.self) != true
  }
}

private final class IsNilTransformer: ValueTransformer {
  override class func allowsReverseTransformation() -> Bool { false }
  override func transformedValue(_ value: Any?) -> Any? { unwrapped(value) == nil }
}

private final class IsNotNilTransformer: ValueTransformer {
  override class func allowsReverseTransformation() -> Bool { false }
  override func transformedValue(_ value: Any?) -> Any? { unwrapped(value) != nil }
}

/// The reverse of ``ArchiveValueTransformer``.
private final class UnarchivingTransformer: ValueTransformer {
  override func transformedValue(_ value: Any?) -> Any? {
    TransformationKey.archive.reverseTransformedValue(value)
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    TransformationKey.archive.transformedValue(value)
  }
}
#endif

/// Turns objects into their archives, and back.
///
/// It accepts the objects of ``TransformationKey/archive``; any other object becomes `nil`.
open class ArchiveValueTransformer: ValueTransformer {
  /// Returns the class of archives.
  ///
  /// - Returns: `NSData`.
  open override class func transformedValueClass() -> AnyClass { NSData.self }

  /// Returns the archive of an object.
  ///
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

/// Converts values that JSON supports (text, numbers, truth values, arrays and dictionaries of
/// these) to JSON and back.
open class JSONObjectTransformer: ValueTransformer {
  /// Returns the class of JSON data.
  ///
  /// - Returns: `NSData`.
  open override class func transformedValueClass() -> AnyClass { NSData.self }

  /// Returns the JSON of a value.
  ///
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

  /// Returns the JSON of a value.
  ///
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
