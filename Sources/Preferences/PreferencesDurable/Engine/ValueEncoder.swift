internal import FoundationEssentials
internal import PreferencesCore

/// Converts values to their stored form.
struct ValueEncoder {
  /// Reports a type that cannot be stored.
  struct Unstorable: Error {
    let type: Any.Type
  }

  /// The maximum nesting depth of a value.
  static let maximumDepth = 200

  private var bytes: [UInt8] = []

  /// Returns the stored form of a value; `nil` for none, which removes the key.
  static func stored(
    _ value: PreferenceObject?, forKey key: PreferenceKey
  ) throws(PreferencesError) -> StoredValue? {
    guard let value = unwrapped(value) else { return nil }
    return try encode(value, forKey: key)
  }

  /// Returns the stored form of a value.
  static func encode(
    _ value: Any, forKey key: PreferenceKey
  ) throws(PreferencesError) -> StoredValue {
    var encoder = ValueEncoder()
    do throws(Unstorable) {
      let kind = try encoder.append(value, depth: 0)
      return StoredValue(kind: kind, bytes: encoder.bytes)
    } catch {
      throw .unstorable(error.type, forKey: key)
    }
  }

  private mutating func append(_ value: Any, depth: Int) throws(Unstorable) -> ValueKind {
    let type = type(of: value)
    if type == String.self, let text = value as? String { return append(text) }
    if type == Int.self, let number = value as? Int { return append(Int64(number)) }
    if type == Bool.self, let truth = value as? Bool { return append(truth) }
    if type == Double.self, let number = value as? Double { return append(number) }
    guard depth < Self.maximumDepth, let value = unwrapped(value) else {
      throw Unstorable(type: type)
    }
    if type is AnyClass { return try append(other: value, depth: depth) }
    switch value {
    case let text as String: return append(text)
    case let truth as Bool: return append(truth)
    case let data as Data:
      bytes.append(contentsOf: data)
      return .data
    case let date as Date: return append(date)
    case let array as [Any]: return try append(array, depth: depth)
    case let dictionary as PreferencesDictionary: return try append(dictionary, depth: depth)
    case let url as URL: return append(url)
    case let uuid as UUID:
      unsafe withUnsafeBytes(of: uuid.uuid) { unsafe bytes.append(contentsOf: $0) }
      return .uuid
    case let decimal as Decimal:
      bytes.append(contentsOf: decimal.description.utf8)
      return .decimal
    case let number as Float:
      appendFixed(number.bitPattern)
      return .float
    default: return try append(other: value, depth: depth)
    }
  }

  /// Appends the value for which one of another type stands.
  private mutating func append(other value: Any, depth: Int) throws(Unstorable) -> ValueKind {
    guard let standing = PropertyListForm.value(standingFor: value) else {
      throw Unstorable(type: type(of: value))
    }
    guard let number = standing as? UInt64 else { return try append(standing, depth: depth) }
    appendFixed(number)
    return .unsignedInteger
  }

  // MARK: - Kinds

  private mutating func append(_ truth: Bool) -> ValueKind {
    bytes.append(truth ? 1 : 0)
    return .truth
  }

  private mutating func append(_ number: Int64) -> ValueKind {
    appendFixed(number)
    return .integer
  }

  private mutating func append(_ number: Double) -> ValueKind {
    appendFixed(number.bitPattern)
    return .double
  }

  private mutating func append(_ text: String) -> ValueKind {
    bytes.append(contentsOf: text.utf8)
    return .text
  }

  private mutating func append(_ date: Date) -> ValueKind {
    appendFixed(date.timeIntervalSinceReferenceDate.bitPattern)
    return .date
  }

  /// Appends the base only if there is one: a URL without it is its text.
  private mutating func append(_ url: URL) -> ValueKind {
    appendCounted(Array(url.relativeString.utf8))
    if let base = url.baseURL { bytes.append(contentsOf: base.absoluteString.utf8) }
    return .url
  }

  private mutating func append(_ array: [Any], depth: Int) throws(Unstorable) -> ValueKind {
    appendCount(array.count)
    for element in array { try appendElement(element, depth: depth) }
    return .array
  }

  private mutating func append(
    _ dictionary: PreferencesDictionary, depth: Int
  ) throws(Unstorable) -> ValueKind {
    // In the order of bytes, so that equal dictionaries have equal bytes.
    let pairs = dictionary.compactMap { key, value in unwrapped(value).map { (key, $0) } }
      .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
    appendCount(pairs.count)
    for (key, value) in pairs {
      appendCounted(Array(key.utf8))
      try appendElement(value, depth: depth)
    }
    return .dictionary
  }

  private mutating func appendElement(_ element: Any, depth: Int) throws(Unstorable) {
    var encoder = ValueEncoder()
    let kind = try encoder.append(element, depth: depth + 1)
    bytes.append(kind.rawValue)
    appendCounted(encoder.bytes)
  }

  private mutating func appendCounted(_ counted: [UInt8]) {
    appendCount(counted.count)
    bytes.append(contentsOf: counted)
  }

  /// Appends a number in groups of 7 bits, the lowest first; all but the last have the high bit.
  private mutating func appendCount(_ count: Int) {
    var rest = UInt(count)
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private mutating func appendFixed(_ number: some FixedWidthInteger) {
    var rest = number
    for _ in 0..<(number.bitWidth / 8) {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }
}
