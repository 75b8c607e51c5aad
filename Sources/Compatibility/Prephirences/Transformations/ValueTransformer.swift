#if !canImport(ObjectiveC)
public import Foundation

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
  /// - Parameter value: The value.
  /// - Returns: The transformed value; `nil` by default.
  open func transformedValue(_ value: Any?) -> Any? { nil }

  /// Returns the original of a transformed value.
  ///
  /// - Parameter value: The transformed value.
  /// - Returns: The original. By default it is the transformed value, as for a transformation that
  ///   is its own reverse; `nil` if the transformation is not reversible.
  open func reverseTransformedValue(_ value: Any?) -> Any? {
    Self.allowsReverseTransformation() ? transformedValue(value) : nil
  }
}
#endif
