#if !canImport(ObjectiveC)
internal import Foundation

/// The name of a transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  /// The name.
  public let rawValue: String

  /// Creates a name.
  ///
  /// - Parameter rawValue: The name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a name.
  ///
  /// - Parameter rawValue: The name.
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
  ///
  /// - Parameter name: The name.
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
  /// - Parameters:
  ///   - transformer: The transformer, which replaces any with the same name; `nil` removes the
  ///     name.
  ///   - name: The name.
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
