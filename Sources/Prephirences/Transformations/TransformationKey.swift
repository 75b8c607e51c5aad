#if canImport(ObjectiveC)
public import Foundation
#endif

/// The transformations that have a name.
///
/// ```swift
/// preferences["color", .archive] = color
/// ```
public enum TransformationKey {
  /// Values are stored as they are.
  case none

  /// Values are stored as the data of `NSKeyedArchiver`.
  ///
  /// Setting a value that cannot be archived changes nothing.
  case archive

  /// Two closures: what to store for a value, and the value that a stored one stands for.
  ///
  /// Without the first, values are stored as they are.
  case closureTuple(
    transform: ((Any?) -> PreferenceObject?)?, revert: (PreferenceObject?) -> Any?)

  /// Several transformations, of which the first is the next to the store.
  ///
  /// Reading goes from the first to the last, writing from the last to the first. If one of them
  /// refuses a value, nothing is changed.
  case compose(transformations: [any PreferenceTransformation])

  /// A transformer, which must allow the reverse transformation.
  ///
  /// Setting changes nothing if it does not, or if it makes nothing of the value.
  case valueTransformer(ValueTransformer)

  /// Any other transformation, which is asked for everything.
  case transformation(any PreferenceTransformation)
}

// Unchecked because closures, transformers and other transformations may be anything: whoever uses
// one on several threads answers for its safety there, as for that of the preferences.
extension TransformationKey: @unchecked Sendable {}

extension TransformationKey {
  /// Values are stored as JSON data, by ``Prephirences/jsonEncoder``.
  ///
  /// - Parameter type: The type of the values.
  /// - Returns: The transformation.
  public static func codable<Value: Codable>(_ type: Value.Type) -> TransformationKey {
    .transformation(CodableTransformation<Value>())
  }

  /// Values are stored as they are; another spelling of `none`.
  public static var None: TransformationKey { .none }

  /// Values are stored as archives; another spelling of ``archive``.
  public static var Archive: TransformationKey { .archive }

  /// Names a transformation, which may have a name already.
  init(_ transformation: any PreferenceTransformation) {
    self = transformation as? TransformationKey ?? .transformation(transformation)
  }
}

extension TransformationKey: Equatable {
  /// Returns whether two transformations are known to be the same.
  ///
  /// Closures never are, and of other transformations nothing is known.
  public static func == (left: TransformationKey, right: TransformationKey) -> Bool {
    switch (left, right) {
    case (.none, .none), (.archive, .archive): true
    case (.compose(let left), .compose(let right)): left.isEmpty && right.isEmpty
    case (.valueTransformer(let left), .valueTransformer(let right)): left == right
    default: false
    }
  }
}
