internal import CLibsecret

/// A value of a D-Bus message.
indirect enum BusValue: Sendable {
  case string(String)
  case objectPath(String)
  case bool(Bool)
  case uint32(UInt32)
  case uint64(UInt64)
  case variant(BusValue)
  case array([BusValue], elementType: String)
  case entry(BusValue, BusValue)
  case tuple([BusValue])

  /// A secret, encrypted for the session.
  case secret(VariantReference)

  /// A value of a type that is not used here.
  case other

  static func objectPaths(_ paths: [String]) -> Self {
    .array(paths.map { .objectPath($0) }, elementType: "o")
  }

  static func stringPairs(_ pairs: some Sequence<(name: String, value: String)>) -> Self {
    .array(pairs.map { .entry(.string($0.name), .string($0.value)) }, elementType: "{ss}")
  }

  static func properties(_ pairs: [(String, BusValue)]) -> Self {
    .array(pairs.map { .entry(.string($0.0), .variant($0.1)) }, elementType: "{sv}")
  }

  var text: String? {
    switch self {
    case .string(let text), .objectPath(let text): text
    case .variant(let value): value.text
    default: nil
    }
  }

  var bool: Bool? {
    switch self {
    case .bool(let value): value
    case .variant(let value): value.bool
    default: nil
    }
  }

  var number: UInt64? {
    switch self {
    case .uint32(let value): UInt64(value)
    case .uint64(let value): value
    case .variant(let value): value.number
    default: nil
    }
  }

  /// The elements of an array or tuple; empty for other types.
  var elements: [BusValue] {
    switch self {
    case .array(let values, _), .tuple(let values): values
    case .variant(let value): value.elements
    default: []
    }
  }

  /// The texts of an array of strings or object paths.
  var texts: [String] { elements.compactMap(\.text) }

  /// The pairs of a dictionary.
  var pairs: [(key: BusValue, value: BusValue)] {
    elements.compactMap { if case .entry(let key, let value) = $0 { (key, value) } else { nil } }
  }

  /// The value for a key of a dictionary.
  subscript(name: String) -> BusValue? { pairs.first { $0.key.text == name }?.value }
}
