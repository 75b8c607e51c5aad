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

  /// Returns the value of an archive with a mark, or `nil` for other data.
  package static func value(of data: Data) -> PreferenceValue? {
    // Most data is not an archive, so this check must be cheap.
    guard data.starts(with: BinaryPropertyList.magic),
      data.firstRange(of: Data(markKey.utf8)) != nil,
      let archive = KeyedArchive(data),
      let mark = archive.text(forKey: markKey).flatMap(Mark.init)
    else { return nil }
    if mark == .url { return archive.url(forKey: rootKey).map { .url($0) } }
    guard let text = archive.text(forKey: rootKey) else { return nil }
    return switch mark {
    case .uuid: UUID(uuidString: text).map { .uuid($0) }
    case .decimal: Decimal(string: text).map { .decimal($0) }
    case .date: Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .text, .url: .string(text)
    }
  }

  /// Returns the URL of an archive, with or without a mark, or `nil` for other data.
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

/// The fractions of seconds that dates lose in an XML property list.
///
/// They are stored under a separate key, as the list of the value's exact dates in order, so that
/// other programs still read dates.
package enum ExactDates {
  private static let prefix = "PrephirencesExactDates."

  /// Returns the key for the exact dates of a key.
  package static func key(beside key: PreferenceKey) -> PreferenceKey { prefix + key }

  /// Whether a key is for exact dates.
  package static func isBeside(_ key: PreferenceKey) -> Bool {
    // Compares bytes: a key may begin with a character that combines with the one before it.
    key.utf8.starts(with: prefix.utf8)
  }

  /// Returns the exact dates to store for a value, or `nil` if no date has a fraction.
  package static func list(of form: PreferenceValue) -> PreferenceValue? {
    var dates: [Double] = []
    visit(form) { date in
      dates.append(date.timeIntervalSinceReferenceDate)
      return date
    }
    return dates.allSatisfy { $0.rounded() == $0 } ? nil : .array(dates.map { .double($0) })
  }

  /// Returns a value with its exact dates, if they still match the value.
  package static func restore(_ value: PreferenceValue, _ list: PreferenceValue?) -> PreferenceValue
  {
    restore(value, list?.plain, visit)
  }

  /// Returns a value of any type with its exact dates, if they still match the value.
  ///
  /// - Parameter visit: Returns the value with each date as a function returns it, which it calls in the
  ///   order of the bytes of keys.
  package static func restore<Value>(
    _ value: Value, _ list: Any?, _ visit: (Value, (Date) -> Date) -> Value
  ) -> Value {
    guard let list = list as? [Double] else { return value }
    var remaining = list[...]
    var agrees = true
    let restored = visit(value) { date in
      let exact = remaining.popFirst().map(Date.init(timeIntervalSinceReferenceDate:))
      guard let exact, isDate(date, leftOf: exact) else {
        agrees = false
        return date
      }
      return exact
    }
    return agrees && remaining.isEmpty ? restored : value
  }

  /// Whether a date is the exact one, or the whole second that an XML property list keeps.
  ///
  /// If not, another program or Foundation's own setter has set a different date since.
  private static func isDate(_ date: Date, leftOf exact: Date) -> Bool {
    let seconds = date.timeIntervalSinceReferenceDate
    // A date close to the end of a second may be written as the next second.
    return date == exact
      || seconds.rounded() == seconds && -0.001..<1 ~= exact.timeIntervalSince(date)
  }

  /// Calls a function for each date, in an order that only the value determines.
  @discardableResult
  private static func visit(_ value: PreferenceValue, _ body: (Date) -> Date) -> PreferenceValue {
    switch value {
    case .date(let date): .date(body(date))
    case .array(let values): .array(values.map { visit($0, body) })
    case .dictionary(let values):
      .dictionary(
        values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
          .reduce(into: [:]) { $0[$1.key] = visit($1.value, body) })
    default: value
    }
  }
}
