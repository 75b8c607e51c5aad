package import Foundation

/// Archives of objects, made and read so that what cannot be is `nil`.
///
/// `NSKeyedArchiver` stops the process on a value that it cannot take, and `NSKeyedUnarchiver` on
/// many an archive that was altered, so both are checked before.
package enum PreferenceArchive {
  /// Returns the archive of a value, or `nil` if it cannot be archived.
  package static func archive(_ value: Any) -> Data? {
    guard isArchivable(value) else { return nil }
    return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
  }

  /// Returns the value of an archive, or `nil` if the data is none.
  package static func unarchive(_ data: Data) -> Any? {
    unarchive(data, keys: [NSKeyedArchiveRootObjectKey])?[0]
  }

  /// Returns several values of an archive, or `nil` if the data is none or one is missing.
  static func unarchive(_ data: Data, keys: [String]) -> [Any]? {
    guard let archive = KeyedArchive(data), archive.isSound,
      let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data)
    else { return nil }
    unarchiver.requiresSecureCoding = false
    unarchiver.decodingFailurePolicy = .setErrorAndReturn
    defer { unarchiver.finishDecoding() }
    var objects: [Any] = []
    for key in keys {
      guard let object = unarchiver.decodeObject(forKey: key), unarchiver.error == nil else {
        return nil
      }
      objects.append(object)
    }
    return objects
  }

  private static func isArchivable(_ value: Any, depth: Int = 0) -> Bool {
    guard depth < 200, let value = unwrapped(value) else { return false }
    switch value {
    case let array as [Any]:
      return array.allSatisfy { isArchivable($0, depth: depth + 1) }
    case let dictionary as [AnyHashable: Any]:
      return dictionary.allSatisfy { key, value in
        isArchivable(key.base, depth: depth + 1) && isArchivable(value, depth: depth + 1)
      }
    case let set as Set<AnyHashable>:
      return set.allSatisfy { isArchivable($0.base, depth: depth + 1) }
    // Archiving one crashes.
    case is Decimal, is NSDecimalNumber: return false
    default: return (value as AnyObject) is any NSCoding
    }
  }
}
