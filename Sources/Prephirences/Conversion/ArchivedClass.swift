/// The classes of Foundation that are in most archives, and what their fields must be.
enum ArchivedClass {
  /// Returns whether an object of a class can be made of its fields.
  ///
  /// Other classes check their fields themselves.
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
      isString(archive.object(fields["NS.relative"])) && archive.object(fields["NS.base"]) != nil
    default: true
    }
  }

  private static func isString(_ object: BinaryPropertyList.Object?) -> Bool {
    if case .string = object { true } else { false }
  }

  private static func isReal(_ object: BinaryPropertyList.Object?) -> Bool {
    if case .real = object { true } else { false }
  }

  private static func isData(_ object: BinaryPropertyList.Object?, count: Int? = nil) -> Bool {
    if case .data(let actual) = object { count == nil || count == actual } else { false }
  }
}
