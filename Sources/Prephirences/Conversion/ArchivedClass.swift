internal import Foundation

/// The classes of Foundation that are in most archives, and what their fields must be.
enum ArchivedClass {
  /// Returns whether an object of a class can be made of its fields.
  ///
  /// Other classes check their fields themselves; in a collection, they must not fail.
  static func accepts(
    _ fields: KeyedArchive.Fields, of name: String, in archive: KeyedArchive
  ) -> Bool {
    switch name {
    case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet",
      "NSMutableOrderedSet":
      archive.referenceCount(fields["NS.objects"]) != nil
    case "NSDictionary", "NSMutableDictionary":
      if let keys = archive.referenceCount(fields["NS.keys"]) {
        archive.referenceCount(fields["NS.objects"]) == keys
      } else {
        false
      }
    case "NSString", "NSMutableString": isString(fields["NS.string"])
    case "NSData", "NSMutableData": isData(fields["NS.data"])
    case "NSDate": isReal(fields["NS.time"])
    case "NSUUID": isData(fields["NS.uuidbytes"], count: 16)
    case "NSURL":
      isURL(archive.object(fields["NS.relative"])) && isBase(fields["NS.base"], in: archive)
    // A class that is not there would leave a hole, which collections do not check for.
    default: NSClassFromString(name) is any NSCoding.Type
    }
  }

  private static func isString(_ object: BinaryPropertyList.Object?) -> Bool {
    if case .string = object { true } else { false }
  }

  /// Whether text makes a URL; of any other, an object is made that stops the process when used.
  private static func isURL(_ object: BinaryPropertyList.Object?) -> Bool {
    guard case .string(let text) = object else { return false }
    return URL(string: text, encodingInvalidCharacters: false) != nil
  }

  private static func isBase(
    _ field: BinaryPropertyList.Object?, in archive: KeyedArchive
  ) -> Bool {
    guard case .reference(let reference) = field else { return false }
    return reference == 0 || archive.className(ofObjectAt: reference) == "NSURL"
  }

  private static func isReal(_ object: BinaryPropertyList.Object?) -> Bool {
    if case .real = object { true } else { false }
  }

  private static func isData(_ object: BinaryPropertyList.Object?, count: Int? = nil) -> Bool {
    if case .data(let actual) = object { count == nil || count == actual } else { false }
  }
}
