#if !canImport(ObjectiveC)
internal import Foundation

/// The name of a transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  /// The name.
  public let rawValue: String

  /// Makes a name.
  ///
  /// - Parameter rawValue: The name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Makes a name.
  ///
  /// - Parameter rawValue: The name.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// The transformer from `true` to `false` and back.
  public static let negateBooleanTransformerName = Self("NSNegateBoolean")

  /// The transformer that tells whether a value is `nil`.
  public static let isNilTransformerName = Self("NSIsNil")

  /// The transformer that tells whether a value is not `nil`.
  public static let isNotNilTransformerName = Self("NSIsNotNil")

  /// The transformer from archives to objects and back.
  public static let keyedUnarchiveFromDataTransformerName = Self("NSKeyedUnarchiveFromData")

  /// The transformer from archives to objects and back; another name of
  /// ``keyedUnarchiveFromDataTransformerName``.
  public static let secureUnarchiveFromDataTransformerName = Self("NSSecureUnarchiveFromData")
}

/// What is found by a name: transformers, and nothing else.
public protocol NamedValueTransformer {}

extension NamedValueTransformer {
  /// Finds the transformer of a name; `nil` if none of this class has it.
  ///
  /// - Parameter name: The name.
  public init?(forName name: NSValueTransformerName) {
    guard let transformer = ValueTransformer.named.withLock({ $0[name] }) as? Self else {
      return nil
    }
    // Not a new one: what is found keeps its identity.
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

  /// Gives a transformer a name, or takes the name away.
  ///
  /// - Parameters:
  ///   - transformer: The transformer, in place of any that had the name; `nil` for none.
  ///   - name: The name.
  public class func setValueTransformer(
    _ transformer: ValueTransformer?, forName name: NSValueTransformerName
  ) {
    named.withLock { $0[name] = transformer }
  }

  /// Returns the names that transformers have.
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
