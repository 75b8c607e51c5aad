package import FoundationEssentials

/// An archive of `NSKeyedArchiver`.
///
/// Texts and URLs are read here. For other objects, this checks what `NSKeyedUnarchiver` relies on,
/// since it stops the process if that is wrong.
package struct KeyedArchive {
  typealias Fields = [String: BinaryPropertyList.Object]

  /// The maximum nesting depth of objects, here and in archives that are created.
  package static let maximumDepth = 200

  static let version = 100_000
  static let archiver = "NSKeyedArchiver"

  /// The first object, which represents `nil`.
  static let null = "$null"

  /// The maximum length of the name of a class, which is looked up for each object.
  private static let maximumNameLength = 1000

  private let list: BinaryPropertyList
  private let top: Fields
  private let objects: [Int]

  /// Reads the frame of an archive, or returns `nil` for other data.
  package init?(_ data: Data) {
    guard let list = BinaryPropertyList(data), let root = Self.fields(list.root, of: list),
      case .scalar(.string(Self.archiver)) = root["$archiver"],
      case .scalar(.integer(Int64(Self.version))) = root["$version"],
      case .dictionary(let top) = root["$top"], case .array(let objects) = root["$objects"],
      case .scalar(.string(Self.null))? = objects.first.map({ list.objects[$0] }),
      let top = Self.fields(top, of: list)
    else { return nil }
    self.list = list
    self.top = top
    self.objects = objects
  }

  // MARK: Texts and URLs

  /// Returns the text that is archived for a key.
  func text(forKey key: String) -> String? {
    guard case .reference(let reference) = top[key] else { return nil }
    return text(at: reference)
  }

  /// Returns the URL that is archived for a key.
  func url(forKey key: String) -> URL? {
    guard case .reference(let reference) = top[key] else { return nil }
    return url(at: reference, depth: 0)
  }

  private func text(at reference: Int) -> String? {
    // The first object represents `nil`.
    guard reference > 0, objects.indices.contains(reference) else { return nil }
    if case .scalar(.string(let text)) = list.objects[objects[reference]] { return text }
    guard let (name, fields) = object(at: reference),
      ["NSString", "NSMutableString"].contains(name),
      case .scalar(.string(let text)) = fields["NS.string"]
    else { return nil }
    return text
  }

  private func url(at reference: Int, depth: Int) -> URL? {
    guard depth < Self.maximumDepth, let (name, fields) = object(at: reference), name == "NSURL",
      case .reference(let base) = fields["NS.base"],
      case .reference(let relative) = fields["NS.relative"], let text = text(at: relative),
      // Other text would become another URL.
      URL(string: text, encodingInvalidCharacters: false) != nil
    else { return nil }
    if base == 0 { return URL(string: text) }
    return url(at: base, depth: depth + 1).flatMap { URL(string: text, relativeTo: $0) }
  }

  /// Returns the class and the fields of an object.
  private func object(at reference: Int) -> (name: String, fields: Fields)? {
    guard objects.indices.contains(reference),
      let fields = Self.fields(objects[reference], of: list),
      case .reference(let entry) = fields["$class"], let name = className(at: entry)
    else { return nil }
    return (name, fields)
  }

  // MARK: Soundness

  /// Whether the unarchiver can safely read all of it.
  package var isSound: Bool {
    var examination = Examination()
    return top.values.allSatisfy { value in
      guard case .reference(let reference) = value else { return isScalar(value) }
      return extent(reference, &examination, depth: 0) != nil
    }
  }

  /// What is known about objects.
  struct Examination {
    /// The extents; `nil` for objects under examination; meeting one of these again means that it
    /// refers to itself, which the unarchiver would follow forever.
    fileprivate var extents: [Int: Extent?] = [:]
    /// The names by the entries of the classes.
    fileprivate var classNames: [Int: String?] = [:]

    /// The names of the classes of these objects.
    fileprivate var objectClassNames: [Int: String?] = [:]

    /// Whether the texts of these objects are valid URLs.
    var areURLs: [Int: Bool] = [:]
  }

  /// Returns the extent of an object and everything that it refers to, or `nil` if that is unsound,
  /// or too large or deep.
  private func extent(_ reference: Int, _ examination: inout Examination, depth: Int) -> Extent? {
    if let known = examination.extents[reference] { return known }
    guard objects.indices.contains(reference), depth < Self.maximumDepth else { return nil }
    let object = list.objects[objects[reference]]
    var extent = Extent(of: object)
    // The first object represents `nil`.
    if reference == 0 || isScalar(object) { return extent }
    examination.extents[reference] = .some(nil)
    guard case .dictionary(let pairs) = object, let fields = Self.fields(pairs, of: list),
      let name = className(of: fields, &examination),
      ArchivedClass.accepts(fields, of: name, in: self, &examination)
    else { return nil }
    for (key, field) in fields where key != "$class" {
      extent.add(Extent(of: field))
      guard let references = references(in: field, depth: depth) else { return nil }
      for reference in references {
        guard let part = self.extent(reference, &examination, depth: depth + 1) else { return nil }
        extent.add(part)
        guard extent.weight <= list.limit, depth + extent.height < Self.maximumDepth else {
          return nil
        }
      }
    }
    examination.extents[reference] = extent
    return extent
  }

  /// Returns the references in a field, or `nil` if it is nested too deeply.
  private func references(in field: BinaryPropertyList.Object, depth: Int) -> [Int]? {
    switch field {
    case .reference(let reference): return [reference]
    case .array(let elements): return references(in: elements, depth: depth)
    case .dictionary(let pairs): return references(in: pairs.map(\.value), depth: depth)
    default: return []
    }
  }

  private func references(in elements: [Int], depth: Int) -> [Int]? {
    guard depth < Self.maximumDepth else { return nil }
    var all: [Int] = []
    for element in elements {
      guard let references = references(in: list.objects[element], depth: depth + 1) else {
        return nil
      }
      all += references
    }
    return all
  }

  /// Returns the class of an object whose entry is sound.
  private func className(of fields: Fields, _ examination: inout Examination) -> String? {
    guard case .reference(let reference) = fields["$class"] else { return nil }
    if let known = examination.classNames[reference] { return known }
    let name = className(at: reference)
    examination.classNames[reference] = .some(name)
    return name
  }

  private func className(at reference: Int) -> String? {
    guard objects.indices.contains(reference),
      case .dictionary(let pairs) = list.objects[objects[reference]],
      let entry = Self.fields(pairs, of: list),
      case .scalar(.string(let name)) = entry["$classname"],
      case .array(let classes) = entry["$classes"], let first = classes.first,
      case .scalar(.string(name)) = list.objects[first], name.utf8.count <= Self.maximumNameLength,
      classes.allSatisfy({ if case .scalar(.string) = list.objects[$0] { true } else { false } })
    else { return nil }
    return name
  }

  func className(ofObjectAt reference: Int, _ examination: inout Examination) -> String? {
    if let known = examination.objectClassNames[reference] { return known }
    let fields =
      objects.indices.contains(reference) ? Self.fields(objects[reference], of: list) : nil
    let name = fields.flatMap { className(of: $0, &examination) }
    examination.objectClassNames[reference] = .some(name)
    return name
  }

  func object(_ field: BinaryPropertyList.Object?) -> BinaryPropertyList.Object? {
    guard case .reference(let reference) = field, objects.indices.contains(reference) else {
      return nil
    }
    return list.objects[objects[reference]]
  }

  /// Returns the number of object references in a field's array, or `nil` if it has no such array.
  ///
  /// The first object represents `nil`, which collections do not accept.
  func referenceCount(_ field: BinaryPropertyList.Object?) -> Int? {
    guard case .array(let elements) = field else { return nil }
    let areReferences = elements.allSatisfy {
      if case .reference(1...) = list.objects[$0] { true } else { false }
    }
    return areReferences ? elements.count : nil
  }

  private func isScalar(_ object: BinaryPropertyList.Object) -> Bool {
    if case .scalar = object { true } else { false }
  }

  private static func fields(_ index: Int, of list: BinaryPropertyList) -> Fields? {
    guard case .dictionary(let pairs) = list.objects[index] else { return nil }
    return fields(pairs, of: list)
  }

  /// Returns a dictionary by its keys, or `nil` if a key is not text or is repeated.
  private static func fields(
    _ pairs: [(key: Int, value: Int)], of list: BinaryPropertyList
  ) -> Fields? {
    var fields: Fields = [:]
    for (key, value) in pairs {
      guard case .scalar(.string(let key)) = list.objects[key],
        fields.updateValue(list.objects[value], forKey: key) == nil
      else { return nil }
    }
    return fields
  }
}

/// Foundation's classes in most archives, and the fields that they need.
enum ArchivedClass {
  /// Whether an object of a class can be created from its fields.
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
    if case .scalar(.string) = object { true } else { false }
  }

  /// Whether text is a valid URL.
  ///
  /// Invalid text yields an object that stops the process when used.
  private static func isURL(
    _ field: BinaryPropertyList.Object?, in archive: KeyedArchive,
    _ examination: inout KeyedArchive.Examination
  ) -> Bool {
    guard case .reference(let reference) = field,
      case .scalar(.string(let text)) = archive.object(field)
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
    if case .scalar(.double) = object { true } else { false }
  }

  private static func isData(_ object: BinaryPropertyList.Object?, count: Int? = nil) -> Bool {
    if case .scalar(.data(let data)) = object { count == nil || count == data.count } else { false }
  }
}
