package import FoundationEssentials

/// Reads property lists from untrusted sources.
///
/// These readers replace Foundation's, which reads an invalid `<data>` as empty, and never ends
/// with a binary list of a few hundred bytes whose arrays refer to one another. Here, time and
/// memory are proportional to the data. Text such as `{ port = 9090; }` is refused, because it does
/// not say which values are numbers.
///
/// | in the list | value |
/// | --- | --- |
/// | integer | an integer, or an unsigned one above its range |
/// | real | `double` |
/// | truth value, text, data, date, array, dictionary | the same |
package enum PropertyListReader {
  package enum Format {
    case xml
    case binary
  }

  /// The maximum nesting depth: that of a value, in a dictionary.
  static let maximumDepth = PreferenceValue.maximumDepth + 1

  /// Returns the root of a property list and its format.
  package static func read(
    _ data: Data
  ) throws(PropertyListDamage) -> (root: PreferenceValue, format: Format) {
    let bytes = [UInt8](data)
    if bytes.starts(with: BinaryPropertyList.magic) {
      return (try BinaryPropertyList(reading: bytes).value(), .binary)
    }
    let text = try PropertyListBytes(decoding: bytes)
    guard text.next == UInt8(ascii: "<") else { throw .notTyped }
    return (try XMLPropertyListReader.read(text), .xml)
  }

  /// Returns the dictionary of a property list and its format.
  package static func readDictionary(
    _ data: Data, message: (String) -> String
  ) throws(PreferencesError) -> (root: [PreferenceKey: PreferenceValue], format: Format) {
    var reason = ""
    do throws(PropertyListDamage) {
      let (root, format) = try read(data)
      if case .dictionary(let root) = root { return (root, format) }
    } catch {
      reason = ": \(error.reason)"
    }
    throw PreferencesError(.damaged, message("not a property list with a dictionary" + reason))
  }
}

/// Why data is not a property list; contains nothing of the data.
package struct PropertyListDamage: Error {
  package let reason: String

  init(_ reason: String) { self.reason = reason }

  static let tooDeep = PropertyListDamage("it is nested too deeply")
  static let notTyped = PropertyListDamage("it is neither XML nor binary")
}

extension [PreferenceKey: PreferenceValue] {
  /// Adds a value; the last of a repeated key counts.
  mutating func add(
    _ value: PreferenceValue, forKey key: PreferenceKey
  ) throws(PropertyListDamage) {
    if let index = index(forKey: key) {
      guard self[index].key.utf8.elementsEqual(key.utf8) else {
        throw PropertyListDamage("two keys of a dictionary differ in their bytes alone")
      }
      values[index] = value
    } else {
      self[key] = value
    }
  }
}

/// The bytes of a property list that is text, in UTF-8, and the position of a reader.
struct PropertyListBytes {
  private let bytes: [UInt8]
  private(set) var position = 0

  /// Decodes UTF-8 or UTF-16, or ISO 8859-1 if the XML declaration says so.
  init(decoding bytes: [UInt8]) throws(PropertyListDamage) {
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0, 0x3C]) {
      self.bytes = try Self.utf8(bytes, high: 0)
    } else if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0x3C, 0]) {
      self.bytes = try Self.utf8(bytes, high: 1)
    } else if Self.declaredEncoding(of: bytes) == "iso-8859-1" {
      self.bytes = Array(String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })).utf8)
    } else {
      guard String(validating: bytes, as: UTF8.self) != nil else {
        throw PropertyListDamage("it is not valid UTF-8")
      }
      self.bytes = bytes
    }
    if self.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    skipSpace()
    if position == self.bytes.count { throw PropertyListDamage("it is empty") }
  }

  /// Returns the encoding that an XML declaration names.
  private static func declaredEncoding(of bytes: [UInt8]) -> String? {
    let start = String(decoding: bytes.prefix(200), as: UTF8.self).lowercased()
    guard start.hasPrefix("<?xml") else { return nil }
    let parts = start.prefix { $0 != ">" }.split { "\"'= ".contains($0) }
    return parts.firstIndex(of: "encoding").flatMap { parts[($0 + 1)...].first }.map { String($0) }
  }

  private static func utf8(_ bytes: [UInt8], high: Int) throws(PropertyListDamage) -> [UInt8] {
    let units = stride(from: 0, to: bytes.count - 1, by: 2).map {
      UInt16(bytes[$0 + high]) << 8 | UInt16(bytes[$0 + 1 - high])
    }
    guard bytes.count.isMultiple(of: 2), let text = String(validating: units, as: UTF16.self) else {
      throw PropertyListDamage("it is not valid UTF-16")
    }
    return Array(text.utf8)
  }

  /// Returns the bytes from this reader's position to a later one's.
  func bytes(upTo later: Self) -> ArraySlice<UInt8> { bytes[position..<later.position] }

  /// The next byte, or `nil` at the end.
  var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func pop() -> UInt8? {
    guard position < bytes.count else { return nil }
    defer { position += 1 }
    return bytes[position]
  }

  func isNext(_ word: StaticString) -> Bool {
    word.withUTF8Buffer { word in
      guard word.count <= bytes.count - position else { return false }
      for offset in word.indices where unsafe bytes[position + offset] != word[offset] {
        return false
      }
      return true
    }
  }

  /// Moves past a word if it is next.
  mutating func take(_ word: StaticString) -> Bool {
    guard isNext(word) else { return false }
    position += word.utf8CodeUnitCount
    return true
  }

  /// Moves past the first occurrence of a word.
  mutating func skip(behind word: StaticString, of what: String) throws(PropertyListDamage) {
    while position < bytes.count {
      if take(word) { return }
      position += 1
    }
    throw failure("\(what) does not end")
  }

  mutating func skipSpace() { _ = takeAll(where: Self.isSpace) }

  /// Moves past the bytes that meet a condition, and returns them.
  mutating func takeAll(where condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    let start = position
    while position < bytes.count, condition(bytes[position]) { position += 1 }
    return bytes[start..<position]
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }

  /// Returns an error that names the line.
  func failure(_ reason: String) -> PropertyListDamage {
    let line = bytes[..<position].reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    return PropertyListDamage("line \(line): \(reason)")
  }
}
