internal import FoundationEssentials

/// The objects of a binary property list as stored; no byte is trusted.
///
/// It recognizes the references of archives, and refuses lists that would be too large or too deep
/// if each object were repeated wherever the list refers to it.
struct BinaryPropertyList {
  enum Object {
    /// A value that is neither an array nor a dictionary.
    case scalar(PreferenceValue)
    case reference(Int)
    case array([Int])
    case dictionary([(key: Int, value: Int)])
    case null
  }

  static let magic = Array("bplist00".utf8)

  let objects: [Object]
  let root: Int

  /// The greatest weight of the list's contents.
  let limit: Int

  /// Reads a property list or an archive, or returns `nil` for other data.
  init?(_ data: Data) {
    guard let list = try? Self(reading: [UInt8](data)) else { return nil }
    self = list
  }

  /// Reads a property list or an archive.
  init(reading bytes: [UInt8]) throws(PropertyListDamage) {
    guard let (objects, root) = Self.objects(of: bytes) else { throw .damaged }
    self.objects = objects
    self.root = root
    limit = Extent.limit(byteCount: bytes.count)
    var known = [Extent?](repeating: nil, count: objects.count)
    var isOpen = [Bool](repeating: false, count: objects.count)
    _ = try extent(root, &known, &isOpen, depth: 0)
  }

  private static func objects(of bytes: [UInt8]) -> (objects: [Object], root: Int)? {
    guard bytes.count >= 40, bytes.starts(with: magic) else { return nil }
    var reader = ByteReader(bytes: bytes, position: bytes.count - 26)
    guard let offsetWidth = reader.integer(width: 1), let referenceWidth = reader.integer(width: 1),
      let count = reader.integer(width: 8), let root = reader.integer(width: 8),
      let table = reader.integer(width: 8),
      1...8 ~= offsetWidth, 1...8 ~= referenceWidth, 1...bytes.count ~= count, 0..<count ~= root,
      table >= 8, table <= bytes.count - 32 - count * offsetWidth
    else { return nil }
    var objects: [Object] = []
    var offsets = ByteReader(bytes: bytes, position: table)
    // Objects that share bytes would need more space than the list has.
    var room = table - 8
    for _ in 0..<count {
      guard let offset = offsets.integer(width: offsetWidth), 8..<table ~= offset else {
        return nil
      }
      var reader = ByteReader(bytes: bytes, position: offset, end: table)
      guard let object = reader.object(referenceWidth: referenceWidth, count: count) else {
        return nil
      }
      room -= reader.position - offset
      guard room >= 0 else { return nil }
      objects.append(object)
    }
    return (objects, root)
  }

  /// Returns the extent of an object; each is examined once.
  private func extent(
    _ index: Int, _ known: inout [Extent?], _ isOpen: inout [Bool], depth: Int
  ) throws(PropertyListDamage) -> Extent {
    if let known = known[index] { return known }
    guard depth < PropertyListReader.maximumDepth else { throw .tooDeep }
    guard !isOpen[index] else { throw PropertyListDamage("an object contains itself") }
    isOpen[index] = true
    var extent = Extent(of: objects[index])
    let parts =
      switch objects[index] {
      case .array(let elements): elements
      case .dictionary(let pairs): pairs.flatMap { [$0, $1] }
      default: [Int]()
      }
    for part in parts {
      extent.add(try self.extent(part, &known, &isOpen, depth: depth + 1))
      guard extent.weight <= limit else { throw .tooLarge }
      guard depth + extent.height < PropertyListReader.maximumDepth else { throw .tooDeep }
    }
    known[index] = extent
    return extent
  }

  // MARK: Values

  /// Returns the value of a list.
  func value() throws(PropertyListDamage) -> PreferenceValue {
    var known = [PreferenceValue?](repeating: nil, count: objects.count)
    return try value(root, &known)
  }

  private func value(
    _ index: Int, _ known: inout [PreferenceValue?]
  ) throws(PropertyListDamage) -> PreferenceValue {
    if let known = known[index] { return known }
    let value: PreferenceValue
    switch objects[index] {
    case .scalar(let scalar): return scalar
    case .array(let elements):
      value = .array(
        try elements.map { index throws(PropertyListDamage) in try self.value(index, &known) })
    case .dictionary(let pairs):
      var dictionary: [PreferenceKey: PreferenceValue] = [:]
      for (key, value) in pairs {
        guard case .scalar(.string(let key)) = objects[key] else { throw .damaged }
        try dictionary.add(try self.value(value, &known), forKey: key)
      }
      value = .dictionary(dictionary)
    case .null, .reference: throw .damaged
    }
    known[index] = value
    return value
  }
}

extension PropertyListDamage {
  fileprivate static let damaged = PropertyListDamage(
    "it is damaged, or has objects that are not values")

  static let tooLarge = PropertyListDamage("it repeats its parts too often")
}

/// The size and depth of an object, with each part repeated wherever it is referred to.
///
/// A list becomes values without references, so visiting or copying them visits a part as often as
/// it occurs.
struct Extent {
  private(set) var weight: Int
  private(set) var height = 0

  /// Returns the extent of an object without its parts.
  init(of object: BinaryPropertyList.Object) {
    weight =
      switch object {
      case .scalar(.string(let text)): 1 + text.utf8.count
      case .scalar(.data(let data)): 1 + data.count
      default: 1
      }
  }

  mutating func add(_ part: Extent) {
    weight += part.weight
    height = max(height, part.height + 1)
  }

  /// Returns the greatest weight of a list: much more than lists of programs, which repeat keys and
  /// short texts.
  static func limit(byteCount: Int) -> Int { 64 * byteCount + (1 << 16) }
}

/// Reads big-endian numbers and property list objects in sequence.
private struct ByteReader {
  let bytes: [UInt8]
  var position: Int
  let end: Int

  init(bytes: [UInt8], position: Int, end: Int? = nil) {
    self.bytes = bytes
    self.position = position
    self.end = end ?? bytes.count
  }

  mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= end - position else { return nil }
    defer { position += count }
    return bytes[position..<position + count]
  }

  mutating func bits(width: Int) -> UInt64? {
    take(width).map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
  }

  /// Returns a number, or `nil` if it does not fit in an `Int`.
  mutating func integer(width: Int) -> Int? { bits(width: width).flatMap { Int(exactly: $0) } }

  mutating func object(referenceWidth: Int, count: Int) -> BinaryPropertyList.Object? {
    guard let marker = take(1)?.first else { return nil }
    let low = Int(marker & 0x0f)
    switch marker >> 4 {
    case 0x0:
      return marker == 0 ? .null : marker == 8 || marker == 9 ? .scalar(.bool(marker == 9)) : nil
    case 0x1: return integerObject(width: 1 << low)
    case 0x2 where low == 2:
      return bits(width: 4).map {
        .scalar(.double(Double(Float(bitPattern: UInt32(truncatingIfNeeded: $0)))))
      }
    case 0x2 where low == 3: return bits(width: 8).map { .scalar(.double(Double(bitPattern: $0))) }
    case 0x3 where low == 3:
      return bits(width: 8).map {
        .scalar(.date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0))))
      }
    case 0x4: return length(low).flatMap { take($0) }.map { .scalar(.data(Data($0))) }
    case 0x5: return length(low).flatMap { take($0) }.flatMap(Self.ascii)
    case 0x6: return length(low).flatMap { take($0 &* 2) }.flatMap(Self.utf16)
    case 0x8: return integer(width: low + 1).map { .reference($0) }
    case 0xa:
      return references(length(low), referenceWidth, count).map { .array($0) }
    case 0xd:
      let pairs = length(low)
      guard let keys = references(pairs, referenceWidth, count),
        let values = references(pairs, referenceWidth, count)
      else { return nil }
      return .dictionary(zip(keys, values).map { ($0, $1) })
    default: return nil
    }
  }

  /// Reads an integer: with a sign if it has 8 bytes or more.
  private mutating func integerObject(width: Int) -> BinaryPropertyList.Object? {
    guard [1, 2, 4, 8, 16].contains(width) else { return nil }
    let high = width == 16 ? bits(width: 8) : nil
    guard let low = bits(width: min(width, 8)) else { return nil }
    let number = Int64(truncatingIfNeeded: low)
    switch high {
    case nil where width < 16: return .scalar(.integer(number))
    case 0: return .scalar(number < 0 ? .unsignedInteger(low) : .integer(number))
    case UInt64.max where number < 0: return .scalar(.integer(number))
    default: return nil
    }
  }

  /// Returns the length of an object, from its marker or the number that follows.
  private mutating func length(_ low: Int) -> Int? {
    guard low == 0xf else { return low }
    guard let marker = take(1)?.first, marker >> 4 == 1, marker & 0xf <= 3,
      let length = integer(width: 1 << Int(marker & 0xf)), length <= bytes.count
    else { return nil }
    return length
  }

  private mutating func references(_ length: Int?, _ width: Int, _ count: Int) -> [Int]? {
    guard let length else { return nil }
    var references: [Int] = []
    for _ in 0..<length {
      guard let reference = integer(width: width), reference < count else { return nil }
      references.append(reference)
    }
    return references
  }

  private static func ascii(_ bytes: ArraySlice<UInt8>) -> BinaryPropertyList.Object? {
    bytes.allSatisfy { $0 < 0x80 }
      ? .scalar(.string(String(decoding: bytes, as: UTF8.self))) : nil
  }

  private static func utf16(_ bytes: ArraySlice<UInt8>) -> BinaryPropertyList.Object? {
    let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
      UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
    }
    return String(validating: units, as: UTF16.self).map { .scalar(.string($0)) }
  }
}
