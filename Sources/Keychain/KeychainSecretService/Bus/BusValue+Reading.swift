internal import CLibsecret

extension BusValue {
  /// The maximum length of an array; reading a longer one would exceed every deadline.
  static let maximumElementCount = 50_000

  /// Reads the body of a message.
  init(reading body: VariantReference, as type: BusType) throws(BusError) {
    guard body.type == type.body else { throw .unexpectedType }
    switch type {
    case .nothing, .values: self = try Self.read(body)
    case .property(let type):
      guard let variant = body.child(0) else { throw .unexpectedType }
      self = .tuple([try Self.held(by: variant, type)])
    case .properties(let required, let optional):
      guard let all = body.child(0) else { throw .unexpectedType }
      let known = required.merging(optional) { first, _ in first }
      let found = try Self.properties(all, known)
      let value = BusValue.properties(found)
      guard required.keys.allSatisfy({ value[$0] != nil }) else { throw .unexpectedType }
      self = .tuple([value])
    }
  }

  /// Returns the known properties of a dictionary.
  private static func properties(
    _ all: VariantReference, _ types: [String: String]
  ) throws(BusError) -> [(String, BusValue)] {
    var found: [(String, BusValue)] = []
    for entry in try children(of: all) {
      guard let name = entry.child(0)?.text, let variant = entry.child(1) else {
        throw .unexpectedType
      }
      if let type = types[name] { found.append((name, try held(by: variant, type))) }
    }
    return found
  }

  private static func held(
    by variant: VariantReference, _ type: String
  ) throws(BusError) -> BusValue {
    guard let value = variant.held, value.type == type else { throw .unexpectedType }
    return try read(value)
  }

  /// Reads a value whose type was compared before.
  private static func read(_ value: VariantReference) throws(BusError) -> BusValue {
    let type = value.type
    switch type.utf8.first.map({ Unicode.Scalar($0) }) {
    case "s", "g": return .string(value.text)
    case "o": return .objectPath(value.text)
    case "b": return .bool(value.bool)
    case "u": return .uint32(value.uint32)
    case "t": return .uint64(value.uint64)
    case "a": return .array(try elements(of: value), elementType: String(type.dropFirst()))
    case "{":
      let parts = try elements(of: value)
      guard parts.count == 2 else { throw .unexpectedType }
      return .entry(parts[0], parts[1])
    case "(" where type == secretType: return .secret(value)
    case "(": return .tuple(try elements(of: value))
    default: return .other
    }
  }

  private static let secretType = "(oayays)"

  private static func elements(of value: VariantReference) throws(BusError) -> [BusValue] {
    try children(of: value).map { child throws(BusError) in try read(child) }
  }

  private static func children(of value: VariantReference) throws(BusError) -> [VariantReference] {
    let count = value.count
    guard count <= maximumElementCount else { throw .tooManyElements }
    return (0..<count).compactMap { value.child($0) }
  }
}
