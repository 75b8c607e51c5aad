internal import Foundation

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
