public import FoundationEssentials

/// A value of a preference, with the type with which it is stored.
///
/// Stores on disk and shared stores hold such values, and nothing else. Two values are equal if
/// they are stored as the same kind and bytes: the integer 1 is not 1.0, and text in another
/// normalization is another text.
///
/// ```swift
/// let listeners: PreferenceValue = [["host": "localhost", "port": 8080]]
/// print(listeners.object)
/// ```
@nonexhaustive public enum PreferenceValue: Sendable {
  case bool(Bool)
  case integer(Int64)
  /// A whole number that is greater than every `Int64`; a smaller one is stored as an integer.
  case unsignedInteger(UInt64)
  case float(Float)
  case double(Double)
  case string(String)
  case data(Data)
  case date(Date)
  case url(URL)
  case uuid(UUID)
  case decimal(Decimal)
  /// Arrays and dictionaries can be nested 200 deep.
  case array([PreferenceValue])
  case dictionary([PreferenceKey: PreferenceValue])

  /// The maximum nesting depth of a value.
  package static let maximumDepth = 200

  /// Fails if the value is nested deeper than that.
  package func checkDepth(forKey key: PreferenceKey) throws(PreferencesError) {
    if isDeeper(than: Self.maximumDepth) { throw .unstorable(type(of: object), forKey: key) }
  }

  private func isDeeper(than depth: Int) -> Bool {
    switch self {
    case .array(let values): depth == 0 || values.contains { $0.isDeeper(than: depth - 1) }
    case .dictionary(let values):
      depth == 0 || values.values.contains { $0.isDeeper(than: depth - 1) }
    default: false
    }
  }
}

// MARK: - Values of other types

extension PreferenceValue {
  package struct Unstorable: Error {
    package let type: Any.Type
  }

  /// Takes a value of any type, as stores keep it.
  ///
  /// Text of any type is a string, a number an integer or a `Double` with the same value, and an
  /// object of Foundation the Swift value that it represents. A `nil` in a dictionary is left out.
  ///
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/unstorable`` if the value, or one
  ///   in it, is of another type, or if it is nested deeper than 200.
  public init(object: PreferenceObject) throws(PreferencesError) {
    do throws(Unstorable) { try self.init(storing: object) } catch {
      throw .unstorable(error.type)
    }
  }

  /// Takes a value of any type, as stores keep it.
  package init(storing object: Any) throws(Unstorable) { try self.init(object, depth: 0) }

  /// Takes a value of any type, as stores keep it, or returns `nil` if they cannot.
  package init?(_ object: Any) { try? self.init(storing: object) }

  /// Takes the value of a key, or returns `nil` for `nil`, which removes the key.
  package static func stored(
    _ object: PreferenceObject?, forKey key: PreferenceKey
  ) throws(PreferencesError) -> PreferenceValue? {
    guard let object = unwrapped(object) else { return nil }
    do throws(Unstorable) { return try PreferenceValue(storing: object) } catch {
      throw .unstorable(error.type, forKey: key)
    }
  }

  private init(_ object: Any, depth: Int) throws(Unstorable) {
    // These first, because a check for an optional takes longer than all of them.
    let type = type(of: object)
    if type == String.self, let text = object as? String { self = .string(text); return }
    if type == Int.self, let number = object as? Int { self = .integer(Int64(number)); return }
    if type == Bool.self, let truth = object as? Bool { self = .bool(truth); return }
    if type == Double.self, let number = object as? Double { self = .double(number); return }
    guard let object = unwrapped(object) else { throw Unstorable(type: type) }
    if type is AnyClass {
      try self.init(standingFor: object, depth: depth)
      return
    }
    switch object {
    case let text as String: self = .string(text)
    case let truth as Bool: self = .bool(truth)
    case let data as Data: self = .data(data)
    case let date as Date: self = .date(date)
    case let value as PreferenceValue: self = value
    case let array as [Any]:
      guard depth < Self.maximumDepth else { throw Unstorable(type: type) }
      self = .array(
        try array.map { element throws(Unstorable) in
          try PreferenceValue(element, depth: depth + 1)
        })
    case let dictionary as PreferencesDictionary:
      guard depth < Self.maximumDepth else { throw Unstorable(type: type) }
      var values: [PreferenceKey: PreferenceValue] = [:]
      for (key, value) in dictionary.droppingNil() {
        values[key] = try PreferenceValue(value, depth: depth + 1)
      }
      self = .dictionary(values)
    case let url as URL: self = .url(url)
    case let uuid as UUID: self = .uuid(uuid)
    case let decimal as Decimal: self = .decimal(decimal)
    case let number as Float: self = .float(number)
    default: try self.init(standingFor: object, depth: depth)
    }
  }

  private init(standingFor object: Any, depth: Int) throws(Unstorable) {
    guard let standing = PropertyListForm.value(standingFor: object) else {
      throw Unstorable(type: type(of: object))
    }
    if let number = standing as? UInt64 {
      self = .unsignedInteger(number)
    } else {
      try self.init(standing, depth: depth)
    }
  }

  /// The value as an object, with numbers as ``NumberBoxing`` returns them.
  public var object: PreferenceObject {
    switch self {
    case .bool(let truth): truth
    case .integer(let number): NumberBoxing.boxed(Int(number))
    case .unsignedInteger(let number): NumberBoxing.boxed(number)
    // A number object would change the bits of a not-a-number, and make an infinite `Float` a
    // `Double`.
    case .float(let number): number.isFinite ? NumberBoxing.boxed(number) : number
    case .double(let number): number.isNaN ? number : NumberBoxing.boxed(number)
    case .string(let text): text
    case .data(let data): data
    case .date(let date): date
    case .url(let url): url
    case .uuid(let uuid): uuid
    case .decimal(let decimal): decimal
    case .array(let values): values.map(\.object)
    case .dictionary(let values): values.mapValues(\.object)
    }
  }
}

// MARK: - Stored form

extension PreferenceValue {
  /// The kinds of values, with their numbers in files and in shared stores.
  package enum Kind: UInt8, Sendable {
    /// The key was removed; such a row reports the removal to other processes.
    case removed = 0
    case bool = 1
    case integer = 2
    case unsignedInteger = 3
    case float = 4
    case double = 5
    case string = 6
    case data = 7
    case date = 8
    case url = 9
    case uuid = 10
    case decimal = 11
    case array = 12
    case dictionary = 13
    /// The number in the file is not a kind; never stored.
    case damaged = 255
  }

  /// A value as files and shared stores have it: its kind and its bytes.
  ///
  /// Equal values have equal bytes, so values are compared, and copied between machines, without
  /// being decoded.
  package struct Encoded: Hashable, Sendable {
    package let kind: Kind
    package let bytes: [UInt8]

    package init(kind: Kind, bytes: [UInt8]) {
      self.kind = kind
      self.bytes = bytes
    }

    /// The value, or `nil` if the bytes are damaged.
    package var decoded: PreferenceValue? { Decoder.decode(kind, bytes[...], depth: 0) }
  }

  /// The stored form.
  package var encoded: Encoded {
    var encoder = Encoder()
    let kind = encoder.append(self)
    return Encoded(kind: kind, bytes: encoder.bytes)
  }

  private struct Encoder {
    var bytes: [UInt8] = []

    mutating func append(_ value: PreferenceValue) -> Kind {
      switch value {
      case .bool(let truth):
        bytes.append(truth ? 1 : 0)
        return .bool
      case .integer(let number):
        appendFixed(number)
        return .integer
      case .unsignedInteger(let number):
        appendFixed(number)
        return number > Int64.max ? .unsignedInteger : .integer
      case .float(let number):
        appendFixed(number.bitPattern)
        return .float
      case .double(let number):
        appendFixed(number.bitPattern)
        return .double
      case .string(let text):
        bytes.append(contentsOf: text.utf8)
        return .string
      case .data(let data):
        bytes.append(contentsOf: data)
        return .data
      case .date(let date):
        appendFixed(date.timeIntervalSinceReferenceDate.bitPattern)
        return .date
      case .url(let url):
        // The base only if there is one: a URL without it is its text.
        appendCounted(Array(url.relativeString.utf8))
        if let base = url.baseURL { bytes.append(contentsOf: base.absoluteString.utf8) }
        return .url
      case .uuid(let uuid):
        unsafe withUnsafeBytes(of: uuid.uuid) { unsafe bytes.append(contentsOf: $0) }
        return .uuid
      case .decimal(let decimal):
        bytes.append(contentsOf: decimal.description.utf8)
        return .decimal
      case .array(let values):
        appendCount(values.count)
        for value in values { appendElement(value) }
        return .array
      case .dictionary(let values):
        appendCount(values.count)
        // In the order of bytes, so that equal dictionaries have equal bytes.
        for (key, value) in values.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        ) {
          appendCounted(Array(key.utf8))
          appendElement(value)
        }
        return .dictionary
      }
    }

    private mutating func appendElement(_ element: PreferenceValue) {
      let encoded = element.encoded
      bytes.append(encoded.kind.rawValue)
      appendCounted(encoded.bytes)
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

  /// Reads values from their stored form.
  ///
  /// Any bytes are handled, also damaged ones: reading ends, and allocates no more than they take.
  private struct Decoder {
    private var rest: ArraySlice<UInt8>

    static func decode(_ kind: Kind, _ bytes: ArraySlice<UInt8>, depth: Int) -> PreferenceValue? {
      var decoder = Decoder(rest: bytes)
      guard depth <= maximumDepth, let value = decoder.value(kind, depth: depth),
        decoder.rest.isEmpty
      else { return nil }
      return value
    }

    private mutating func value(_ kind: Kind, depth: Int) -> PreferenceValue? {
      switch kind {
      case .removed, .damaged: nil
      case .bool: fixed(UInt8.self).map { .bool($0 != 0) }
      case .integer: fixed(Int64.self).map { .integer($0) }
      case .unsignedInteger: fixed(UInt64.self).map { .unsignedInteger($0) }
      case .float: fixed(UInt32.self).map { .float(Float(bitPattern: $0)) }
      case .double: fixed(UInt64.self).map { .double(Double(bitPattern: $0)) }
      case .string: remainingText().map { .string($0) }
      case .data: .data(Data(takeAll()))
      case .date:
        fixed(UInt64.self).map {
          .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0)))
        }
      case .url: url().map { .url($0) }
      case .uuid: uuid().map { .uuid($0) }
      // Foundation does not parse its own text for it.
      case .decimal:
        remainingText().flatMap { $0 == "NaN" ? Decimal.nan : Decimal(string: $0) }
          .map { .decimal($0) }
      case .array: array(depth).map { .array($0) }
      case .dictionary: dictionary(depth).map { .dictionary($0) }
      }
    }

    private mutating func url() -> URL? {
      guard let text = counted().flatMap({ String(validating: $0, as: UTF8.self) }) else {
        return nil
      }
      guard !rest.isEmpty else { return URL(string: text) }
      return remainingText().flatMap(URL.init(string:)).flatMap {
        // An empty text refers to the base itself.
        URL(string: text, relativeTo: $0)
      }
    }

    private mutating func uuid() -> UUID? {
      let bytes = Array(takeAll())
      guard bytes.count == 16 else { return nil }
      return UUID(
        uuid: (
          bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8],
          bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
        ))
    }

    private mutating func array(_ depth: Int) -> [PreferenceValue]? {
      guard let count = count(), count <= rest.count else { return nil }
      // Memory is not reserved for the count, because nested arrays can claim it repeatedly.
      var array: [PreferenceValue] = []
      for _ in 0..<count {
        guard let element = element(depth) else { return nil }
        array.append(element)
      }
      return array
    }

    private mutating func dictionary(_ depth: Int) -> [PreferenceKey: PreferenceValue]? {
      guard let count = count(), count <= rest.count else { return nil }
      var dictionary: [PreferenceKey: PreferenceValue] = [:]
      for _ in 0..<count {
        guard let key = counted().flatMap({ String(validating: $0, as: UTF8.self) }),
          let element = element(depth)
        else { return nil }
        dictionary[key] = element
      }
      return dictionary
    }

    private mutating func element(_ depth: Int) -> PreferenceValue? {
      guard let kind = rest.popFirst().flatMap(Kind.init), let bytes = counted() else {
        return nil
      }
      return Self.decode(kind, bytes, depth: depth + 1)
    }

    private mutating func counted() -> ArraySlice<UInt8>? {
      guard let count = count(), count <= rest.count else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }

    private mutating func count() -> Int? {
      var count: UInt = 0
      for shift in stride(from: 0 as UInt, to: 63, by: 7) {
        guard let byte = rest.popFirst() else { return nil }
        count |= UInt(byte & 0x7F) << shift
        if byte < 0x80 { return Int(count) }
      }
      return nil
    }

    private mutating func fixed<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
      let size = Number.bitWidth / 8
      guard rest.count >= size else { return nil }
      defer { rest = rest.dropFirst(size) }
      return rest.prefix(size).reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    private mutating func remainingText() -> String? {
      String(validating: takeAll(), as: UTF8.self)
    }

    private mutating func takeAll() -> ArraySlice<UInt8> {
      defer { rest = [] }
      return rest
    }
  }
}

// Unlike here, Foundation compares text by canonical equivalence, and a not-a-number differs from
// itself.
extension PreferenceValue: Hashable {
  /// Whether two values are stored as the same kind and bytes.
  public static func == (one: Self, other: Self) -> Bool {
    switch (one, other) {
    case (.bool(let one), .bool(let other)): one == other
    case (.integer(let one), .integer(let other)): one == other
    case (.string(let one), .string(let other)): one.utf8.elementsEqual(other.utf8)
    case (.data(let one), .data(let other)): one == other
    default: one.encoded == other.encoded
    }
  }

  /// Hashes the stored kind and bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(encoded) }
}

// MARK: - Literals

extension PreferenceValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// Creates text.
  public init(stringLiteral text: String) { self = .string(text) }

  /// Creates an integer.
  public init(integerLiteral number: Int64) { self = .integer(number) }

  /// Creates a number in double precision.
  public init(floatLiteral number: Double) { self = .double(number) }

  /// Creates a truth value.
  public init(booleanLiteral truth: Bool) { self = .bool(truth) }

  /// Creates an array.
  public init(arrayLiteral elements: PreferenceValue...) { self = .array(elements) }

  /// Creates a dictionary; if a key is repeated, its last value counts.
  public init(dictionaryLiteral elements: (PreferenceKey, PreferenceValue)...) {
    self = .dictionary(Dictionary(elements) { _, last in last })
  }
}
