#if !canImport(ObjectiveC)
public import Foundation

/// Turns values into others, and back: the class of Apple's Foundation, which Foundation lacks on
/// other systems.
///
/// A subclass overrides ``transformedValue(_:)`` and, if the transformation can be reversed,
/// ``allowsReverseTransformation()`` and ``reverseTransformedValue(_:)``. Transformers that are
/// used on several threads must be safe there.
open class ValueTransformer: NSObject, NamedValueTransformer {
  /// Makes a transformer.
  public override init() { super.init() }

  /// Returns the class of the values that the transformation makes.
  ///
  /// - Returns: The class; `NSObject` unless a subclass says more.
  open class func transformedValueClass() -> AnyClass { NSObject.self }

  /// Returns whether the transformation can be reversed.
  ///
  /// - Returns: `true`, unless a subclass says otherwise.
  open class func allowsReverseTransformation() -> Bool { true }

  /// Returns what a value becomes.
  ///
  /// - Parameter value: The value.
  /// - Returns: The other value; `nil` unless a subclass gives one.
  open func transformedValue(_ value: Any?) -> Any? { nil }

  /// Returns the value that became another one.
  ///
  /// - Parameter value: What the value became.
  /// - Returns: The value. Unless a subclass gives one, it is the transformed value, as of a
  ///   transformation that is its own reverse; `nil` if there is no reverse.
  open func reverseTransformedValue(_ value: Any?) -> Any? {
    Self.allowsReverseTransformation() ? transformedValue(value) : nil
  }
}
#endif
