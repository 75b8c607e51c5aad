internal import CPrephirencesLibsecret

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

/// The required type of a reply or a signal, which is compared before its values are read.
///
/// Every call needs one: a provider may answer with anything, and if a value is read as the wrong
/// type, GLib ends the process or never calls back.
enum BusType: Sendable {
  case nothing

  /// Values of these types, concatenated as in D-Bus signatures; the content of a variant is not
  /// read.
  case values(String)

  /// A property of this type.
  case property(String)

  /// The properties of an object, by name; other properties are ignored.
  case properties(required: [String: String], optional: [String: String])

  /// The type of the message's body.
  var body: String {
    switch self {
    case .nothing: "()"
    case .values(let types): "(\(types))"
    case .property: "(v)"
    case .properties: "(a{sv})"
    }
  }
}

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

  /// Creates GLib's value, with a floating reference that its user must sink.
  ///
  /// A text must not contain NUL, which no message can contain.
  func makeVariant(_ library: Libsecret) -> OpaquePointer? {
    let functions = library.functions
    switch self {
    case .string(let text): return unsafe functions.g_variant_new_string(text)
    case .objectPath(let path): return unsafe functions.g_variant_new_object_path(path)
    case .bool(let value): return functions.g_variant_new_boolean(value ? 1 : 0)
    case .uint32(let value): return functions.g_variant_new_uint32(value)
    case .variant(let value):
      return unsafe functions.g_variant_new_variant(value.makeVariant(library))
    case .entry(let key, let value):
      return unsafe functions.g_variant_new_dict_entry(
        key.makeVariant(library), value.makeVariant(library))
    case .tuple(let values):
      let children = unsafe values.map { unsafe $0.makeVariant(library) }
      return unsafe functions.g_variant_new_tuple(children, children.count)
    case .array(let values, let elementType):
      let children = unsafe values.map { unsafe $0.makeVariant(library) }
      let type = unsafe functions.g_variant_type_new(elementType)
      defer { unsafe functions.g_variant_type_free(type) }
      return unsafe functions.g_variant_new_array(type, children, children.count)
    case .secret(let reference): return unsafe reference.pointer
    case .uint64, .other: return functions.g_variant_new_tuple(nil, 0)
    }
  }
}

/// A value of GLib's own type: a received value before its type is checked, or a secret, which only
/// libsecret reads and writes.
///
/// Compare the type before reading anything else.
@safe
final class VariantReference: @unchecked Sendable {
  // @unchecked Sendable because a variant never changes, and counts its references atomically.
  let pointer: OpaquePointer
  private let library: Libsecret

  /// Takes ownership of a reference; a floating one must have been sunk.
  init(taking pointer: OpaquePointer, _ library: Libsecret) {
    unsafe self.pointer = pointer
    self.library = library
  }

  /// Adds a reference to a value that another object owns; `nil` if there is no value.
  init?(sharing pointer: OpaquePointer?, _ library: Libsecret) {
    guard let pointer = unsafe pointer,
      let shared = unsafe library.functions.g_variant_ref(pointer)
    else { return nil }
    unsafe self.pointer = shared
    self.library = library
  }

  deinit { unsafe library.functions.g_variant_unref(pointer) }

  /// The type, as a D-Bus signature.
  var type: String {
    unsafe library.functions.g_variant_get_type_string(pointer).map { unsafe String(cString: $0) }
      ?? ""
  }

  /// The number of children of an array, tuple or entry.
  var count: Int { unsafe library.functions.g_variant_n_children(pointer) }

  /// Returns a child of an array, tuple or entry; the index must be valid.
  func child(_ index: Int) -> VariantReference? {
    unsafe library.functions.g_variant_get_child_value(pointer, index)
      .map { unsafe VariantReference(taking: $0, library) }
  }

  /// The content of a variant.
  var held: VariantReference? {
    unsafe library.functions.g_variant_get_variant(pointer)
      .map { unsafe VariantReference(taking: $0, library) }
  }

  /// A string, path or signature.
  var text: String {
    var count = 0
    guard let start = unsafe library.functions.g_variant_get_string(pointer, &count) else {
      return ""
    }
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
    return unsafe String(decoding: bytes, as: UTF8.self)
  }

  /// An array of bytes.
  var bytes: [UInt8] {
    var count = 0
    let start = unsafe library.functions.g_variant_get_fixed_array(pointer, &count, 1)
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }

  var bool: Bool { unsafe library.functions.g_variant_get_boolean(pointer) != 0 }

  var uint32: UInt32 { unsafe library.functions.g_variant_get_uint32(pointer) }

  var uint64: UInt64 { unsafe library.functions.g_variant_get_uint64(pointer) }
}
