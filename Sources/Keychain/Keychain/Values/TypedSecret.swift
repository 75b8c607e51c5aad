internal import FoundationEssentials
package import KeychainCredentials
internal import KeychainSecrets
internal import PreferencesCore

/// A value in its stored form: secret bytes, and a content type that says how to read them.
///
/// | value | content type | bytes |
/// | --- | --- | --- |
/// | text | `text/plain; charset=utf-8` | UTF-8 |
/// | data | `application/octet-stream` | unchanged |
/// | number, date, URL, UUID | `text/plain; charset=utf-8; type=Int` … | text, see `ScalarForm` |
/// | array, dictionary | `application/json; type=Array` or `Dictionary` | JSON, see `StoredNode` |
/// | any other `Codable` | `application/json; type=` and its mangled name | JSON |
///
/// Dates are in ISO 8601; seconds since 2001 can be read, too.
///
/// An item without a content type comes from another program: it is text if it is valid UTF-8, and
/// data otherwise.
struct TypedSecret: Sendable {
  /// The identity for errors; `nil` before it is stored.
  let identity: CredentialIdentity?

  let contentType: String?
  let secret: SharedSecret

  init(identity: CredentialIdentity? = nil, contentType: String?, secret: SharedSecret) {
    self.identity = identity
    self.contentType = contentType
    self.secret = secret
  }

  /// The name of the value in errors.
  var subject: String { identity.map { "the value of \($0)" } ?? "the stored value" }

  /// The bytes, outside guarded memory.
  var data: Data { secret.bytes.withBytes { Data($0.array) } }

  func string() throws(KeychainError) -> String {
    guard let text else { throw .undecodable("\(subject) is not UTF-8 text") }
    return text
  }

  var text: String? { secret.bytes.withBytes { $0.text } }

  var mediaType: StoredMediaType? { contentType.map(StoredMediaType.init(parsing:)) }
}

extension KeychainError {
  static func undecodable(_ message: String) -> Self {
    Self(.undecodable, message, recovery: "read it as the type that was stored, or store it again")
  }

  static func unstorable(_ type: Any.Type) -> Self {
    Self(
      .invalidArgument, "a value of the type \(type) cannot be stored",
      recovery: "make the type Codable, or store its data")
  }
}

extension TypedSecret {
  /// Converts a value, not an optional, to its stored form.
  init(encoding value: Any) throws(KeychainError) {
    if let data = value as? Data {
      try self.init(StoredMediaType.data, data)
      return
    }
    let node = try StoredNode(value)
    // Programs that have the type under another name can read JSON of the whole type.
    if node.containsCodable, let value = value as? any Encodable {
      let type = TypeName.ofDecodable(Swift.type(of: value))
      try self.init(StoredMediaType.json(type: type), StoredJSON.encode(value))
      return
    }
    switch node {
    case .string(let text): try self.init(StoredMediaType.text(), Data(text.utf8))
    case .scalar(_, let name, let text):
      try self.init(StoredMediaType.text(type: name), Data(text.utf8))
    case .array:
      try self.init(StoredMediaType.json(type: StoredNode.arrayName), StoredJSON.encode(node))
    case .dictionary:
      try self.init(StoredMediaType.json(type: StoredNode.dictionaryName), StoredJSON.encode(node))
    case .null, .codable: throw .unstorable(Swift.type(of: value))
    }
  }

  private init(_ contentType: String, _ data: Data) throws(KeychainError) {
    let secret = try SecretBytes(copying: data.span.bytes)
    self.init(contentType: contentType, secret: SharedSecret(secret))
  }

  /// Returns the value with its stored type.
  func value() throws(KeychainError) -> Any {
    let mediaType = mediaType
    switch (mediaType?.name, mediaType?.type) {
    case (StoredMediaType.data, _): return data
    case (StoredMediaType.json, let name?)
    where name == StoredNode.arrayName || name == StoredNode.dictionaryName:
      return try StoredJSON.decode(ReadNode.self, named: name, from: self).value
    case (StoredMediaType.json, let name):
      guard let type = name.flatMap(TypeName.decodableType(named:)) else { return data }
      return try StoredJSON.decode(type, from: self)
    case (_, let name):
      guard let name, let form = ScalarForm.byName[name] else { return text ?? data }
      guard let value = text.flatMap(form.value) else { throw unreadable(as: name) }
      return value
    }
  }

  /// Returns the value with the caller's type.
  func value<Value: Decodable>(as type: Value.Type) throws(KeychainError) -> Value {
    if let data = data as? Value { return data }
    if let string = try? string() as? Value { return string }
    if let form = ScalarForm.of(type) {
      if let value = text.flatMap(form.value) as? Value { return value }
    } else if let value = try? value() as? Value {
      return value
    }
    return try StoredJSON.decode(type, from: self)
  }

  /// Returns the error for a value that cannot be read as a type; the reason repeats nothing of it.
  func unreadable(as type: String, because reason: String? = nil) -> KeychainError {
    let message = "\(subject) cannot be read as the type \(type)"
    return .undecodable(reason.map { "\(message): \($0)" } ?? message)
  }
}

extension Credential {
  /// Returns the array or dictionary of a secret that was stored as one; `nil` for anything else.
  package func collection(_ secret: SharedSecret) throws(KeychainError) -> Any? {
    // Most secrets are text, and the type need not be parsed to see that.
    guard contentType?.hasPrefix(StoredMediaType.json) ?? false else { return nil }
    let value = TypedSecret(identity: identity, contentType: contentType, secret: secret)
    guard value.mediaType?.name == StoredMediaType.json else { return nil }
    let collection = try value.value()
    return collection is Data ? nil : collection
  }
}

/// A stored value, with its credential.
struct StoredItem: Sendable {
  let credential: Credential
  let value: TypedSecret
}

extension CredentialStore {
  /// Reads a value, whether or not it has expired.
  func item(_ identity: CredentialIdentity) throws(KeychainError) -> StoredItem? {
    guard let item = try secret(for: identity) else { return nil }
    let credential = item.credential
    return StoredItem(
      credential: credential,
      value: TypedSecret(
        identity: identity, contentType: credential.contentType,
        secret: SharedSecret(item.takeSecret())))
  }

  /// Writes a value in place of the one that was read; `nil` means no value for both.
  @discardableResult
  func replace(
    _ old: StoredItem?, _ credential: Credential, by value: TypedSecret?
  ) throws(KeychainError) -> Credential? {
    guard let value else {
      if let old { try remove(old.credential.identity, expectedVersion: old.credential.version) }
      return nil
    }
    let mode = old.map { StoreMode.replace(version: $0.credential.version) } ?? .addOnly
    return try set(credential, secret: value.secret.bytes, mode: mode)
  }
}

extension TypedSecret {
  /// Returns whether another value has the same bytes and type.
  func isSame(as other: TypedSecret) -> Bool {
    contentType == other.contentType && secret.bytes.isEqual(to: other.secret.bytes)
  }
}

extension FieldChange {
  /// Sets a field, or clears it if the value is `nil`.
  init(to value: Value?) { self = value.map { .set($0) } ?? .clear }

  /// Sets a field, or keeps it if the value is `nil`.
  init(orKeep value: Value?) { self = value.map { .set($0) } ?? .keep }
}

/// The media type of a stored value, with the parameter that names the value's type.
struct StoredMediaType: Sendable {
  /// The media type without parameters, in lower case.
  let name: String

  /// The value of the parameter `type`.
  let type: String?

  static let text = "text/plain"
  static let data = "application/octet-stream"
  static let json = "application/json"

  init(parsing contentType: String) {
    let parts = contentType.split(separator: ";", omittingEmptySubsequences: false).map {
      String($0.trimmingWhitespace)
    }
    name = parts.first?.lowercased() ?? ""
    type = parts.dropFirst().first { $0.hasPrefix("type=") }.map { String($0.dropFirst(5)) }
  }

  /// Returns the content type of text, or of a value that is written as text.
  static func text(type: String? = nil) -> String {
    "\(text); charset=utf-8" + (type.map { "; type=\($0)" } ?? "")
  }

  /// Returns the content type of JSON.
  static func json(type: String?) -> String { json + (type.map { "; type=\($0)" } ?? "") }
}

extension Substring {
  /// The text without the spaces and tabs around it.
  fileprivate var trimmingWhitespace: Substring {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    let start = drop(while: isSpace)
    return start.lastIndex { !isSpace($0) }.map { start[...$0] } ?? ""
  }
}
