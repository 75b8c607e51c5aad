internal import Foundation

/// The objects of a binary property list as stored, read without trusting any byte.
///
/// Unlike Foundation's reader, it distinguishes the references of archives.
struct BinaryPropertyList {
  enum Object {
    case string(String)
    case reference(Int)
    case array([Int])
    case dictionary([(key: Int, value: Int)])
    case integer(Int)
    case real
    case data(count: Int)
    case null
    case other
  }

  let objects: [Object]
  let root: Int

  /// Reads a property list; `nil` if the data is not one.
  init?(_ data: Data) {
    let bytes = [UInt8](data)
    guard bytes.count >= 40, bytes.starts(with: Array("bplist00".utf8)) else { return nil }
    var reader = ByteReader(bytes: bytes, position: bytes.count - 26)
    guard let offsetWidth = reader.integer(width: 1), let referenceWidth = reader.integer(width: 1),
      let count = reader.integer(width: 8), let root = reader.integer(width: 8),
      let table = reader.integer(width: 8),
      1...8 ~= offsetWidth, 1...8 ~= referenceWidth, 1...bytes.count ~= count, 0..<count ~= root,
      table >= 8, table + count * offsetWidth <= bytes.count - 32
    else { return nil }
    var objects: [Object] = []
    var offsets = ByteReader(bytes: bytes, position: table)
    for _ in 0..<count {
      guard let offset = offsets.integer(width: offsetWidth), 8..<table ~= offset else {
        return nil
      }
      var reader = ByteReader(bytes: bytes, position: offset, end: table)
      guard let object = reader.object(referenceWidth: referenceWidth, count: count) else {
        return nil
      }
      objects.append(object)
    }
    self.objects = objects
    self.root = root
  }
}

extension BinaryPropertyList {
  /// Whether all objects are of property list types.
  ///
  /// Foundation reads others too, and stops the process when they are used.
  var isPlain: Bool {
    var states: [Int: Bool] = [:]
    return isPlain(root, &states, depth: 0)
  }

  /// Returns whether an object is plain.
  ///
  /// `states` has the known results, and `false` for objects under examination: meeting one of
  /// these again means that it contains itself.
  private func isPlain(_ index: Int, _ states: inout [Int: Bool], depth: Int) -> Bool {
    if let known = states[index] { return known }
    guard depth < KeyedArchive.maximumDepth else { return false }
    states[index] = false
    let isPlain: Bool
    switch objects[index] {
    case .null, .reference: isPlain = false
    case .array(let elements):
      isPlain = elements.allSatisfy { self.isPlain($0, &states, depth: depth + 1) }
    case .dictionary(let pairs):
      isPlain = pairs.allSatisfy { key, value in
        guard case .string = objects[key] else { return false }
        return self.isPlain(value, &states, depth: depth + 1)
      }
    default: isPlain = true
    }
    states[index] = isPlain
    return isPlain
  }
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

  /// Returns a number; `nil` if it does not fit in an `Int`.
  mutating func integer(width: Int) -> Int? {
    take(width).flatMap { bytes in
      Int(exactly: bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    }
  }

  mutating func object(referenceWidth: Int, count: Int) -> BinaryPropertyList.Object? {
    guard let marker = take(1)?.first else { return nil }
    let low = Int(marker & 0x0f)
    switch marker >> 4 {
    case 0x0: return marker == 0 ? .null : marker == 8 || marker == 9 ? .other : nil
    case 0x1: return integerObject(width: 1 << low)
    case 0x2: return low == 2 || low == 3 ? take(1 << low).map { _ in .real } : nil
    case 0x3: return low == 3 ? take(8).map { _ in .other } : nil
    case 0x4: return length(low).flatMap { take($0) }.map { .data(count: $0.count) }
    case 0x5: return length(low).flatMap { take($0) }.flatMap(Self.ascii)
    case 0x6: return length(low).flatMap { take($0 &* 2) }.map(Self.utf16)
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

  private mutating func integerObject(width: Int) -> BinaryPropertyList.Object? {
    guard [1, 2, 4, 8, 16].contains(width), let bytes = take(width) else { return nil }
    let value = bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    return .integer(Int(truncatingIfNeeded: value))
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
    bytes.allSatisfy { $0 < 0x80 } ? .string(String(decoding: bytes, as: UTF8.self)) : nil
  }

  private static func utf16(_ bytes: ArraySlice<UInt8>) -> BinaryPropertyList.Object {
    let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
      UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
    }
    return .string(String(decoding: units, as: UTF16.self))
  }
}
