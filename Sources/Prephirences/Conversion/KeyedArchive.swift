internal import Foundation

/// An archive of `NSKeyedArchiver`, checked before `NSKeyedUnarchiver` reads it.
///
/// The unarchiver relies on what is checked here, and stops the process if it is wrong.
struct KeyedArchive {
  typealias Fields = [String: BinaryPropertyList.Object]

  /// The maximum nesting depth of objects, here and in archives that are created.
  static let maximumDepth = 200

  private let list: BinaryPropertyList
  private let top: Fields
  private let objects: [Int]

  /// Reads the frame of an archive; `nil` if the data has none.
  init?(_ data: Data) {
    guard let list = BinaryPropertyList(data), let root = Self.fields(list.root, of: list),
      case .string("NSKeyedArchiver") = root["$archiver"],
      case .integer(100_000) = root["$version"],
      case .dictionary(let top) = root["$top"], case .array(let objects) = root["$objects"],
      case .string("$null")? = objects.first.map({ list.objects[$0] }),
      let top = Self.fields(top, of: list)
    else { return nil }
    self.list = list
    self.top = top
    self.objects = objects
  }

  /// Whether the unarchiver can read all of it safely.
  var isSound: Bool {
    var states: [Int: Bool] = [:]
    return top.values.allSatisfy { value in
      guard case .reference(let reference) = value else { return isScalar(value) }
      return isSound(reference, &states, depth: 0)
    }
  }

  /// Returns whether an object and everything that it refers to is sound.
  ///
  /// `states` has the known results, and `false` for objects under examination: meeting one of
  /// these again means that it refers to itself, which the unarchiver would follow forever.
  private func isSound(_ reference: Int, _ states: inout [Int: Bool], depth: Int) -> Bool {
    if reference == 0 { return true }
    guard objects.indices.contains(reference), depth < Self.maximumDepth else { return false }
    if let known = states[reference] { return known }
    states[reference] = false
    let object = list.objects[objects[reference]]
    guard case .dictionary(let pairs) = object else {
      states[reference] = isScalar(object)
      return isScalar(object)
    }
    guard let fields = Self.fields(pairs, of: list), let name = className(of: fields),
      ArchivedClass.accepts(fields, of: name, in: self)
    else { return false }
    for (key, field) in fields where key != "$class" {
      for reference in references(in: field, depth: depth) ?? [-1] {
        guard isSound(reference, &states, depth: depth + 1) else { return false }
      }
    }
    states[reference] = true
    return true
  }

  /// Returns the references in a field; `nil` if it is nested too deeply.
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
  private func className(of fields: Fields) -> String? {
    guard case .reference(let reference) = fields["$class"], objects.indices.contains(reference),
      case .dictionary(let pairs) = list.objects[objects[reference]],
      let entry = Self.fields(pairs, of: list), case .string(let name) = entry["$classname"],
      case .array(let classes) = entry["$classes"], let first = classes.first,
      case .string(name) = list.objects[first],
      classes.allSatisfy({ if case .string = list.objects[$0] { true } else { false } })
    else { return nil }
    return name
  }

  /// Returns the class of the object that a reference points to.
  func className(ofObjectAt reference: Int) -> String? {
    guard objects.indices.contains(reference) else { return nil }
    return Self.fields(objects[reference], of: list).flatMap(className)
  }

  /// Returns the object that a field refers to.
  func object(_ field: BinaryPropertyList.Object?) -> BinaryPropertyList.Object? {
    guard case .reference(let reference) = field, objects.indices.contains(reference) else {
      return nil
    }
    return list.objects[objects[reference]]
  }

  /// Returns the number of object references in a field's array; `nil` if the field has no such
  /// array.
  ///
  /// The first object stands for `nil`, which collections do not accept.
  func referenceCount(_ field: BinaryPropertyList.Object?) -> Int? {
    guard case .array(let elements) = field else { return nil }
    let areReferences = elements.allSatisfy {
      if case .reference(1...) = list.objects[$0] { true } else { false }
    }
    return areReferences ? elements.count : nil
  }

  private func isScalar(_ object: BinaryPropertyList.Object) -> Bool {
    switch object {
    case .reference, .array, .dictionary, .null: false
    default: true
    }
  }

  private static func fields(_ index: Int, of list: BinaryPropertyList) -> Fields? {
    guard case .dictionary(let pairs) = list.objects[index] else { return nil }
    return fields(pairs, of: list)
  }

  /// Returns a dictionary by its keys; `nil` if a key is not text or is repeated.
  private static func fields(
    _ pairs: [(key: Int, value: Int)], of list: BinaryPropertyList
  ) -> Fields? {
    var fields: Fields = [:]
    for (key, value) in pairs {
      guard case .string(let key) = list.objects[key],
        fields.updateValue(list.objects[value], forKey: key) == nil
      else { return nil }
    }
    return fields
  }
}
