internal import FoundationEssentials
package import PreferencesCore

/// A value in the form in which the file has it: its kind, and its bytes.
///
/// Equal values have equal bytes, so that values are compared without being decoded.
struct StoredValue: Hashable, Sendable {
  let kind: ValueKind
  let bytes: [UInt8]
}

/// The kinds of stored values, with their numbers in the file.
enum ValueKind: UInt8, Sendable {
  /// The key was removed; such a row reports the removal to other processes.
  case removed = 0
  case truth = 1
  case integer = 2
  case unsignedInteger = 3
  case float = 4
  case double = 5
  case text = 6
  case data = 7
  case date = 8
  case url = 9
  case uuid = 10
  case decimal = 11
  case array = 12
  case dictionary = 13
  /// The file has a number that no kind has; never stored.
  case damaged = 255
}

/// A key that is compared by its bytes, unlike text.
struct KeyBytes: Hashable, Sendable {
  let text: PreferenceKey

  init(_ text: PreferenceKey) { self.text = text }

  var bytes: [UInt8] { Array(text.utf8) }

  static func == (one: KeyBytes, other: KeyBytes) -> Bool {
    one.text.utf8.elementsEqual(other.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

/// All values of preferences that can be read, and why the others cannot: a damaged value hides no
/// other one.
package struct ReadablePairs {
  package var pairs: [(key: PreferenceKey, value: PreferenceObject)] = []
  package var unreadable: [(key: PreferenceKey, failure: PreferencesError)] = []

  /// Why nothing is known of keys that are not listed: the values of `UserDefaults` are not imported, or
  /// changes that were made are missing.
  package var otherKeysFailure: PreferencesError?

  package init(
    pairs: [(key: PreferenceKey, value: PreferenceObject)] = [],
    unreadable: [(key: PreferenceKey, failure: PreferencesError)] = []
  ) {
    self.pairs = pairs
    self.unreadable = unreadable
  }

  /// Returns all values.
  package func complete() throws(PreferencesError) -> [(PreferenceKey, PreferenceObject)] {
    if let failure = unreadable.first?.failure ?? otherKeysFailure { throw failure }
    return pairs.map { ($0.key, $0.value) }
  }
}

/// Reads values from their stored form.
///
/// The bytes may be damaged: whatever they are, reading ends, and allocates no more than they take.
struct ValueDecoder {
  private var rest: ArraySlice<UInt8>

  /// Returns the value; `nil` if the bytes are damaged.
  ///
  /// Truth values are `Bool`; other numbers are `NSNumber` in a program with Foundation's objects,
  /// which casts to each type that holds them.
  static func decode(_ stored: StoredValue) -> Any? {
    decode(stored.kind, stored.bytes[...], depth: 0)
  }

  private static func decode(_ kind: ValueKind, _ bytes: ArraySlice<UInt8>, depth: Int) -> Any? {
    var decoder = ValueDecoder(rest: bytes)
    guard depth < ValueEncoder.maximumDepth + 1,
      let value = decoder.value(kind, depth: depth), decoder.rest.isEmpty
    else { return nil }
    return value
  }

  private mutating func value(_ kind: ValueKind, depth: Int) -> Any? {
    switch kind {
    case .removed, .damaged: nil
    case .truth: fixed(UInt8.self).map { $0 != 0 }
    case .integer: fixed(Int64.self).map { NumberBoxing.boxed(Int($0)) }
    case .unsignedInteger: fixed(UInt64.self).map { NumberBoxing.boxed($0) }
    case .float: fixed(UInt32.self).map { number(Float(bitPattern: $0)) }
    case .double: fixed(UInt64.self).map { number(Double(bitPattern: $0)) }
    case .text: remainingText()
    case .data: Data(takeAll())
    case .date:
      fixed(UInt64.self).map { Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0)) }
    case .url: url()
    case .uuid: uuid()
    // Foundation does not read the text that it writes for it.
    case .decimal: remainingText().flatMap { $0 == "NaN" ? Decimal.nan : Decimal(string: $0) }
    case .array: array(depth)
    case .dictionary: dictionary(depth)
    }
  }

  // A number object would change the bits of what is not a number, and make an infinite `Float` a
  // `Double`.
  private func number(_ number: Double) -> Any {
    number.isNaN ? number : NumberBoxing.boxed(number)
  }

  private func number(_ number: Float) -> Any {
    number.isFinite ? NumberBoxing.boxed(number) : number
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

  private mutating func array(_ depth: Int) -> [Any]? {
    guard let count = count(), count <= rest.count else { return nil }
    // Nothing is reserved for the count, which nested arrays can claim again and again.
    var array: [Any] = []
    for _ in 0..<count {
      guard let element = element(depth) else { return nil }
      array.append(element)
    }
    return array
  }

  private mutating func dictionary(_ depth: Int) -> PreferencesDictionary? {
    guard let count = count(), count <= rest.count else { return nil }
    var dictionary: PreferencesDictionary = [:]
    for _ in 0..<count {
      guard let key = counted().flatMap({ String(validating: $0, as: UTF8.self) }),
        let element = element(depth)
      else { return nil }
      dictionary[key] = element
    }
    return dictionary
  }

  private mutating func element(_ depth: Int) -> Any? {
    guard let kind = rest.popFirst().flatMap(ValueKind.init), let bytes = counted() else {
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
