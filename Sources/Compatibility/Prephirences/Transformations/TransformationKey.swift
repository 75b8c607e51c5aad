#if canImport(ObjectiveC)
public import Foundation
#endif

/// The named transformations.
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

  /// Two closures: one returns the value to store, the other the value of a stored value.
  ///
  /// Without the first closure, values are stored unchanged.
  case closureTuple(
    transform: ((Any?) -> PreferenceObject?)?, revert: (PreferenceObject?) -> Any?)

  /// Several transformations; the first is next to the store.
  ///
  /// Reading applies them from first to last, writing from last to first. If one of them refuses a
  /// value, nothing is changed.
  case compose(transformations: [any PreferenceTransformation])

  /// A transformer, which must allow reverse transformation.
  ///
  /// Otherwise, or if it returns `nil` for a value, setting changes nothing.
  case valueTransformer(ValueTransformer)

  /// Any other transformation.
  case transformation(any PreferenceTransformation)
}

// Unchecked because closures, transformers and other transformations may be anything. A program
// that uses one on several threads is responsible for its thread safety, and for that of the
// preferences.
extension TransformationKey: @unchecked Sendable {}

extension TransformationKey {
  /// Values are stored as JSON data, by ``Prephirences/jsonEncoder``.
  ///
  /// - Parameter type: The type of the values.
  /// - Returns: The transformation.
  public static func codable<Value: Codable>(_ type: Value.Type) -> TransformationKey {
    .transformation(CodableTransformation<Value>())
  }

  /// Values are stored as they are; an alias of `none`.
  public static var None: TransformationKey { .none }

  /// Values are stored as archives; an alias of ``archive``.
  public static var Archive: TransformationKey { .archive }

  /// Names a transformation, which may already be a `TransformationKey`.
  init(_ transformation: any PreferenceTransformation) {
    self =
      transformation is PlainTransformation
      ? .none : transformation as? TransformationKey ?? .transformation(transformation)
  }
}

extension TransformationKey: Equatable {
  /// Returns whether two transformations are known to be the same.
  ///
  /// Closures are never equal, and other transformations cannot be compared.
  public static func == (left: TransformationKey, right: TransformationKey) -> Bool {
    switch (left, right) {
    case (.none, .none), (.archive, .archive): true
    case (.compose(let left), .compose(let right)): left.isEmpty && right.isEmpty
    case (.valueTransformer(let left), .valueTransformer(let right)): left == right
    default: false
    }
  }
}
