package import FoundationEssentials

/// A value without a property list type, stored as the archive of an object.
///
/// Any program can unarchive it; a mark distinguishes it from archives that are values themselves.
/// URLs are archived as URLs, so that `UserDefaults.url(forKey:)` reads them, other types as text.
/// The bytes are those of `NSKeyedArchiver`, which leaves the order of a dictionary open.
package struct MarkedArchive {
  private enum Mark: String {
    case url = "URL"
    case uuid = "UUID"
    case decimal = "Decimal"
    case date = "Date"
    case text = "String"
  }

  private static let rootKey = "root"
  private static let markKey = "PrephirencesType"

  package let data: Data

  package init(_ url: URL) {
    self.init(.url) { $0.add(url) }
  }

  package init(_ uuid: UUID) { self.init(uuid.uuidString, .uuid) }

  package init(_ decimal: Decimal) { self.init(decimal.description, .decimal) }

  package init(_ date: Date) {
    self.init(date.timeIntervalSinceReferenceDate.description, .date)
  }

  package init(_ text: String) { self.init(text, .text) }

  private init(_ text: String, _ mark: Mark) {
    self.init(mark) { $0.add(text) }
  }

  private init(_ mark: Mark, _ addRoot: (inout Objects) -> Int) {
    var objects = Objects()
    let root = addRoot(&objects)
    let top = [(Self.rootKey, root), (Self.markKey, objects.add(mark.rawValue))]
    data = PropertyListWriter.data(
      of: .dictionary([
        ("$version", .integer(KeyedArchive.version)),
        ("$archiver", .string(KeyedArchive.archiver)),
        ("$top", .dictionary(top.map { ($0, .reference($1)) })),
        ("$objects", .array(objects.all)),
      ]))
  }

  /// Returns the value of an archive with a mark; `nil` for other data.
  package static func value(of data: Data) -> Any? {
    // Most data is not an archive, so this check must be cheap.
    guard data.starts(with: BinaryPropertyList.magic), data.firstRange(of: Data(markKey.utf8)) != nil,
      let archive = KeyedArchive(data),
      let mark = archive.text(forKey: markKey).flatMap(Mark.init)
    else { return nil }
    if mark == .url { return archive.url(forKey: rootKey) }
    guard let text = archive.text(forKey: rootKey) else { return nil }
    return switch mark {
    case .uuid: UUID(uuidString: text)
    case .decimal: Decimal(string: text)
    case .date: Double(text).map(Date.init(timeIntervalSinceReferenceDate:))
    case .text, .url: text
    }
  }

  /// Returns the URL of an archive, with a mark or without one; `nil` for other data.
  package static func url(of data: Data) -> URL? { KeyedArchive(data)?.url(forKey: rootKey) }

  /// The objects of an archive: texts, each once, and a URL.
  private struct Objects {
    private(set) var all = [PropertyListNode.string(KeyedArchive.null)]
    private var texts: [String: Int] = [:]

    mutating func add(_ text: String) -> Int {
      if let index = texts[text] { return index }
      texts[text] = all.count
      return append(.string(text))
    }

    /// Adds a URL, which is never relative to another one.
    mutating func add(_ url: URL) -> Int {
      let index = append(.array([]))
      let text = add(url.absoluteString)
      let urlClass = append(
        .dictionary([
          ("$classname", .string("NSURL")),
          ("$classes", .array([.string("NSURL"), .string("NSObject")])),
        ]))
      all[index] = .dictionary([
        ("NS.relative", .reference(text)), ("NS.base", .reference(0)),
        ("$class", .reference(urlClass)),
      ])
      return index
    }

    private mutating func append(_ object: PropertyListNode) -> Int {
      all.append(object)
      return all.count - 1
    }
  }
}
