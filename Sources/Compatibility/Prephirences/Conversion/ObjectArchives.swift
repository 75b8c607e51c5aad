package import Foundation
internal import PreferencesCore

/// Creates and reads archives of objects.
///
/// `NSKeyedArchiver` stops the process on a value that it does not support, and `NSKeyedUnarchiver`
/// on many altered archives, so both are checked first. A program's own classes are responsible for
/// their `encode(with:)` and `init(coder:)`.
extension PreferenceArchive: ObjectArchiver {
  /// Returns the archive of a value, or `nil` if it cannot be archived.
  package static func archived(_ value: Any) -> Data? {
    guard let object = object(toArchive: value) else { return nil }
    let archiver = NSKeyedArchiver(requiringSecureCoding: false)
    let archiveGuard = ArchiveGuard()
    archiver.delegate = archiveGuard
    archiver.encode(object, forKey: NSKeyedArchiveRootObjectKey)
    let data = archiver.finishedData
    return archiveGuard.hasRefused ? nil : data
  }

  /// Returns several values of an archive, or `nil` if the data is not an archive or a value is
  /// missing.
  package static func unarchived(_ data: Data, keys: [String]) -> [Any]? {
    guard isSound(data), let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data)
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

  /// Returns whether this program has a class of this name whose objects can be read from archives.
  package static func isArchivable(className: String) -> Bool {
    NSClassFromString(className) is any NSCoding.Type
  }

  /// Returns the object that a value is archived as, or `nil` if it cannot be archived.
  ///
  /// The archiver accepts objects only; in some builds it treats anything else as an object that
  /// cannot be archived.
  static func object(toArchive value: Any) -> AnyObject? {
    guard let value = unwrapped(value), isArchivable(value) else { return nil }
    return value as AnyObject
  }

  private static func isArchivable(_ value: Any, depth: Int = 0) -> Bool {
    guard depth < maximumDepth, let value = unwrapped(value) else { return false }
    switch value {
    case let array as [Any]:
      return array.allSatisfy { isArchivable($0, depth: depth + 1) }
    case let dictionary as [AnyHashable: Any]:
      return dictionary.allSatisfy { key, value in
        isArchivable(key.base, depth: depth + 1) && isArchivable(value, depth: depth + 1)
      }
    case let set as Set<AnyHashable>:
      return set.allSatisfy { isArchivable($0.base, depth: depth + 1) }
    // Archiving these crashes.
    case is Decimal, is NSDecimalNumber: return false
    default: return (value as AnyObject) is any NSCoding
    }
  }
}

extension NSKeyedArchiver {
  /// Ends the archive and returns it; `nil` if the archiver could not write it.
  ///
  /// The archiver reports that by empty data alone.
  var finishedData: Data? {
    finishEncoding()
    return encodedData.isEmpty ? nil : encodedData
  }
}

/// Refuses objects that would make an archiver stop the process, and records that it did.
final class ArchiveGuard: NSObject, NSKeyedArchiverDelegate {
  private var depth = 0
  private(set) var hasRefused = false

  func archiver(_ archiver: NSKeyedArchiver, willEncode object: Any) -> Any? {
    depth += 1
    let object = object as AnyObject
    if depth <= PreferenceArchive.maximumDepth, Self.accepts(object) { return object }
    hasRefused = true
    return NSNull()
  }

  func archiver(_ archiver: NSKeyedArchiver, didEncode object: Any?) { depth -= 1 }

  func archiver(
    _ archiver: NSKeyedArchiver, willReplace object: Any?, withObject newObject: Any?
  ) {}

  func archiverWillFinish(_ archiver: NSKeyedArchiver) {}

  func archiverDidFinish(_ archiver: NSKeyedArchiver) {}

  /// Returns whether an object can be archived.
  ///
  /// On Linux, the class must have a name that can be looked up: it must not be generic, private or
  /// declared in another type.
  private static func accepts(_ object: AnyObject) -> Bool {
    guard object is any NSCoding else { return false }
    #if canImport(ObjectiveC)
    return true
    #else
    let name = String(reflecting: type(of: object))
    return name.split(separator: ".").count == 2 && !name.contains { "<(".contains($0) }
    #endif
  }
}
