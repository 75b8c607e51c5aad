internal import FoundationEssentials

/// Foundation's classes that occur in most archives, and the fields that they need.
enum ArchivedClass {
  /// Returns whether an object of a class can be created from its fields.
  ///
  /// Other classes check their fields themselves, but must not fail inside a collection.
  static func accepts(
    _ fields: KeyedArchive.Fields, of name: String, in archive: KeyedArchive,
    _ examination: inout KeyedArchive.Examination
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
      isURL(fields["NS.relative"], in: archive, &examination)
        && isBase(fields["NS.base"], in: archive, &examination)
    // A missing class would leave a gap, for which collections do not check.
    default: PreferenceArchive.isArchivable(className: name)
    }
  }

  private static func isString(_ object: BinaryPropertyList.Object?) -> Bool {
    if case .string = object { true } else { false }
  }

  /// Returns whether text is a valid URL.
  ///
  /// Invalid text yields an object that stops the process when used.
  private static func isURL(
    _ field: BinaryPropertyList.Object?, in archive: KeyedArchive,
    _ examination: inout KeyedArchive.Examination
  ) -> Bool {
    guard case .reference(let reference) = field, case .string(let text) = archive.object(field)
    else { return false }
    if let known = examination.areURLs[reference] { return known }
    let isURL = URL(string: text, encodingInvalidCharacters: false) != nil
    examination.areURLs[reference] = isURL
    return isURL
  }

  private static func isBase(
    _ field: BinaryPropertyList.Object?, in archive: KeyedArchive,
    _ examination: inout KeyedArchive.Examination
  ) -> Bool {
    guard case .reference(let reference) = field else { return false }
    return reference == 0 || archive.className(ofObjectAt: reference, &examination) == "NSURL"
  }

  private static func isReal(_ object: BinaryPropertyList.Object?) -> Bool {
    if case .real = object { true } else { false }
  }

  private static func isData(_ object: BinaryPropertyList.Object?, count: Int? = nil) -> Bool {
    if case .data(let bytes) = object { count == nil || count == bytes.count } else { false }
  }
}
