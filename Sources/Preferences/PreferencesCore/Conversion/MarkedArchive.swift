internal import Foundation

/// A value without a property list type, stored as the archive of an object.
///
/// Any program can unarchive it; a mark distinguishes it from archives that are values themselves.
/// URLs are archived as URLs, so that `UserDefaults.url(forKey:)` reads them, other types as text.
struct MarkedArchive {
  private enum Mark: String {
    case url = "URL"
    case uuid = "UUID"
    case decimal = "Decimal"
    case date = "Date"
    case text = "String"
  }

  private static let markKey = "PrephirencesType"

  let data: Data

  init?(_ url: URL) { self.init(url as NSURL, .url) }

  init?(_ uuid: UUID) { self.init(uuid.uuidString as NSString, .uuid) }

  init?(_ decimal: Decimal) { self.init(decimal.description as NSString, .decimal) }

  init?(_ date: Date) {
    self.init(date.timeIntervalSinceReferenceDate.description as NSString, .date)
  }

  init?(_ text: String) { self.init(text as NSString, .text) }

  private init?(_ object: some NSObject & NSCoding, _ mark: Mark) {
    let archiver = NSKeyedArchiver(requiringSecureCoding: false)
    archiver.encode(object, forKey: NSKeyedArchiveRootObjectKey)
    archiver.encode(mark.rawValue as NSString, forKey: Self.markKey)
    archiver.finishEncoding()
    guard !archiver.encodedData.isEmpty else { return nil }
    data = archiver.encodedData
  }

  /// Returns the value of an archive with a mark; `nil` for other data.
  static func value(of data: Data) -> Any? {
    // Most data is not an archive, so this check must be cheap.
    guard data.starts(with: Data("bplist00".utf8)),
      data.range(of: Data(markKey.utf8)) != nil,
      let objects = PreferenceArchive.unarchive(
        data, keys: [NSKeyedArchiveRootObjectKey, markKey]),
      let mark = (objects[1] as? String).flatMap(Mark.init)
    else { return nil }
    let object = objects[0]
    return switch mark {
    case .url: object as? URL
    case .uuid: (object as? String).flatMap(UUID.init(uuidString:))
    case .decimal: (object as? String).flatMap { Decimal(string: $0) }
    case .text: object as? String
    case .date:
      (object as? String).flatMap(Double.init).map(Date.init(timeIntervalSinceReferenceDate:))
    }
  }
}
