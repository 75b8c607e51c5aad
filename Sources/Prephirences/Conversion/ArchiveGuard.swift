internal import Foundation

/// Keeps from an archiver what would stop the process, and remembers that there was something.
final class ArchiveGuard: NSObject, NSKeyedArchiverDelegate {
  private var depth = 0
  private(set) var hasRefused = false

  func archiver(_ archiver: NSKeyedArchiver, willEncode object: Any) -> Any? {
    depth += 1
    let object = object as AnyObject
    if depth <= KeyedArchive.maximumDepth, Self.accepts(object) { return object }
    hasRefused = true
    return NSNull()
  }

  func archiver(_ archiver: NSKeyedArchiver, didEncode object: Any?) { depth -= 1 }

  func archiver(
    _ archiver: NSKeyedArchiver, willReplace object: Any?, withObject newObject: Any?
  ) {}

  func archiverWillFinish(_ archiver: NSKeyedArchiver) {}

  func archiverDidFinish(_ archiver: NSKeyedArchiver) {}

  /// Whether an object can be archived at all.
  ///
  /// On Linux, the class must have a name by which it can be found again: it is not generic, not
  /// private and not declared within another type.
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
