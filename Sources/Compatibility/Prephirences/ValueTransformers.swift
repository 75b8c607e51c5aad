public import Foundation

#if !canImport(ObjectiveC)
/// Converts values and, if possible, converts them back: a class of Apple's Foundation that is
/// missing on other systems.
///
/// A subclass overrides ``transformedValue(_:)`` and, if it is reversible,
/// ``allowsReverseTransformation()`` and ``reverseTransformedValue(_:)``. Transformers that several
/// threads use must be thread-safe.
open class ValueTransformer: NSObject, NamedValueTransformer {
  /// Creates a transformer.
  public override init() { super.init() }

  /// Returns the class of the transformed values; `NSObject` by default.
  open class func transformedValueClass() -> AnyClass { NSObject.self }

  /// Whether the transformation can be reversed; `true` by default.
  open class func allowsReverseTransformation() -> Bool { true }

  /// Returns the transformed value; `nil` by default.
  open func transformedValue(_ value: Any?) -> Any? { nil }

  /// Returns the original of a transformed value.
  ///
  /// By default it is the transformed value, as for a transformation that is its own reverse; `nil`
  /// if the transformation is not reversible.
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

  /// An alias of ``keyedUnarchiveFromDataTransformerName``.
  public static let secureUnarchiveFromDataTransformerName = Self("NSSecureUnarchiveFromData")
}

/// A type whose instances are found by name: transformers.
public protocol NamedValueTransformer {}

extension NamedValueTransformer {
  /// Finds the transformer with a name, or returns `nil` if this class has none.
  public init?(forName name: NSValueTransformerName) {
    guard let transformer = ValueTransformer.named.withLock({ $0[name] }) as? Self else {
      return nil
    }
    // The registered object itself, so that it keeps its identity.
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

  /// Sets the transformer with a name, or removes it if it is `nil`.
  public class func setValueTransformer(
    _ transformer: ValueTransformer?, forName name: NSValueTransformerName
  ) {
    named.withLock { $0[name] = transformer }
  }

  /// Returns the names of all transformers, in no order.
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

/// Converts objects to their archives, and back.
///
/// It accepts the objects of ``TransformationKey/archive``; any other object becomes `nil`.
open class ArchiveValueTransformer: ValueTransformer {
  /// Returns the class of archives, `NSData`.
  open override class func transformedValueClass() -> AnyClass { NSData.self }

  /// Returns the archive of an object as `Data`, or `nil` if it cannot be archived.
  open override func transformedValue(_ value: Any?) -> Any? {
    TransformationKey.archive.transformedValue(value)
  }

  /// Returns the object of an archive in `Data`, or `nil` if it is not an archive.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    TransformationKey.archive.reverseTransformedValue(value)
  }
}

/// Converts values that JSON supports (text, numbers, truth values, arrays and dictionaries of
/// these) to JSON and back.
open class JSONObjectTransformer: ValueTransformer {
  /// Returns the class of JSON data, `NSData`.
  open override class func transformedValueClass() -> AnyClass { NSData.self }

  /// Returns the JSON of a value as `Data`, or `nil` if JSON does not support the value.
  open override func transformedValue(_ value: Any?) -> Any? {
    // Wrapped in an array, because checking a value of another kind alone stops the process.
    guard let value = unwrapped(value), JSONSerialization.isValidJSONObject([value]) else {
      return nil
    }
    return try? JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
  }

  /// Returns the value of JSON in `Data`, or `nil` if it is not JSON.
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

  /// Creates a transformer; without coders, it uses those of ``Prephirences``.
  public init(encoder: JSONEncoder? = nil, decoder: JSONDecoder? = nil) {
    self.encoder = encoder
    self.decoder = decoder
    super.init()
  }

  /// Returns the class of JSON data, `NSData`.
  open override class func transformedValueClass() -> AnyClass { NSData.self }

  /// Returns the JSON of a value as `Data`, or `nil` for another type or a failure.
  open override func transformedValue(_ value: Any?) -> Any? {
    guard let value = value as? Value else { return nil }
    return try? (encoder ?? Prephirences.jsonEncoder).encode(value)
  }

  /// Returns the value of JSON in `Data`, or `nil` if it cannot be decoded as this type.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data else { return nil }
    return try? (decoder ?? Prephirences.jsonDecoder).decode(Value.self, from: data)
  }
}
