#if canImport(ObjectiveC)
public import Foundation
#else
internal import Foundation
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
