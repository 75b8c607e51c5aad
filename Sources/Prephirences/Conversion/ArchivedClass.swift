internal import Foundation

/// Foundation's classes that occur in most archives, and the fields that they need.
enum ArchivedClass {
  /// Returns whether an object of a class can be created from its fields.
  ///
  /// Other classes check their fields themselves, but must not fail inside a collection.
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
    // A missing class would leave a gap, for which collections do not check.
    default: NSClassFromString(name) is any NSCoding.Type
    }
  }

  private static func isString(_ object: BinaryPropertyList.Object?) -> Bool {
    if case .string = object { true } else { false }
  }

  /// Returns whether text is a valid URL.
  ///
  /// Invalid text yields an object that stops the process when used.
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
