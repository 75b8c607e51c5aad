package import FoundationEssentials

/// Makes archives of objects, and objects of archives.
///
/// The core knows no objects. `Prephirences` declares the conformance of ``PreferenceArchive``, with
/// `NSKeyedArchiver`.
package protocol ObjectArchiver: SendableMetatype {
  /// Returns the archive of a value, or `nil` if it cannot be archived.
  static func archived(_ value: Any) -> Data?

  /// Returns the values of an archive, or `nil` if the data is not an archive or lacks one of them.
  static func unarchived(_ data: Data, keys: [String]) -> [Any]?

  /// Returns whether this program has a class of this name whose objects can be read from archives.
  static func isArchivable(className: String) -> Bool
}

/// Archives of objects, for a program that links `Prephirences`; any other archives nothing.
package enum PreferenceArchive {
  private static let archiver = PreferenceArchive.self as Any as? any ObjectArchiver.Type

  /// Returns the archive of a value, or `nil` if it cannot be archived.
  package static func archive(_ value: Any) -> Data? { archiver?.archived(value) }

  /// Returns the value of an archive, or `nil` if the data is not an archive.
  package static func unarchive(_ data: Data) -> Any? { unarchive(data, keys: ["root"])?[0] }

  /// Returns the values of an archive, or `nil` if the data is not an archive or lacks one of them.
  static func unarchive(_ data: Data, keys: [String]) -> [Any]? {
    archiver?.unarchived(data, keys: keys)
  }

  /// The maximum nesting depth of objects.
  package static var maximumDepth: Int { KeyedArchive.maximumDepth }

  /// Returns whether `NSKeyedUnarchiver`, which stops the process on many altered archives, can read
  /// this one.
  package static func isSound(_ data: Data) -> Bool { KeyedArchive(data)?.isSound ?? false }

  /// Returns whether this program has a class of this name whose objects can be read from archives.
  static func isArchivable(className: String) -> Bool {
    archiver?.isArchivable(className: className) ?? false
  }
}
