internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

/// The attributes of our items.
///
/// The keyring libraries of Python, Go and Rust, keytar and others search for those of a generic
/// password; git searches for those of an internet password.
enum ItemAttributes {
  /// The schema, by which our items are recognized.
  static let schema = "org.prephirences.Credential"
  static let schemaName = "xdg:schema"
  static let recordName = "prephirences:credential"
  static let accessGroup = "access-group"
  private static let application = (name: "application", value: "prephirences")

  static func all(of credential: Credential, record: String) -> CredentialAttributes {
    var result = searchable(credential.attributes)
    for (name, value) in names(of: credential.identity) { result[name] = value }
    result[application.name] = application.value
    result[accessGroup] = StoredText.encode(credential.identity.accessGroup)
    result["accessibility"] = credential.accessibility.description
    result[schemaName] = schema
    result[recordName] = record
    return result
  }

  /// Returns the attributes of a search for an identity, which other programs' items have, too.
  static func search(for identity: CredentialIdentity) -> CredentialAttributes {
    var result = names(of: identity)
    for name in redundant { result[name] = nil }
    return result
  }

  static func names(of identity: CredentialIdentity) -> CredentialAttributes {
    var result = CredentialAttributes()
    switch identity.kind {
    case .genericPassword(let service, let account):
      result["service"] = StoredText.encode(service)
      result["username"] = StoredText.encode(account)
      result["account"] = result["username"]
    case .internetPassword(let password):
      result["server"] = StoredText.encode(password.server)
      result["user"] = StoredText.encode(password.account)
      result["username"] = result["user"]
      result["account"] = result["user"]
      // git omits what it does not know.
      if !password.protocol.isEmpty { result["protocol"] = StoredText.encode(password.protocol) }
      if password.port != 0 { result["port"] = String(password.port) }
      if !password.path.isEmpty { result["object"] = StoredText.encode(password.path) }
      if !password.securityDomain.isEmpty {
        result["domain"] = StoredText.encode(password.securityDomain)
      }
    }
    return result
  }

  /// Returns the conditions of a query, as far as attributes can express them; the results must
  /// still be compared.
  static func search(for query: CredentialQuery) -> CredentialAttributes {
    var result = searchable(query.attributes)
    // Other programs' items belong to the unnamed group, too.
    if let group = query.accessGroup, !group.isEmpty {
      result[accessGroup] = StoredText.encode(group)
    }
    if let service = query.service { result["service"] = StoredText.encode(service) }
    if let server = query.server { result["server"] = StoredText.encode(server) }
    if let name = query.protocol, !name.isEmpty { result["protocol"] = StoredText.encode(name) }
    if let port = query.port, port != 0 { result["port"] = String(port) }
    if let path = query.path, !path.isEmpty { result["object"] = StoredText.encode(path) }
    return result
  }

  /// Returns the user's attributes that other programs may see; the record has all of them.
  private static func searchable(_ attributes: CredentialAttributes) -> CredentialAttributes {
    var result = CredentialAttributes()
    for (name, value) in attributes where isFree(name) && StoredText.isKeptByEveryone(value) {
      result[name] = value
    }
    return result
  }

  /// Returns whether no provider or other program uses a name in its own way.
  private static func isFree(_ name: String) -> Bool {
    StoredText.isKeptByEveryone(name) && !taken.contains(name)
      && !CredentialQuery.isReserved(name) && !name.hasPrefix("gkr:")
  }

  /// Returns the label that the provider shows, in one line.
  static func label(of credential: Credential) -> String {
    let text = credential.label ?? credential.identity.description
    return String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
  }

  private static let redundant = ["account", "domain"]
  private static let taken: Set<String> = provided.union([
    "user", "object", "domain", application.name, recordName, "Password", "TOTP", "label",
  ])

  /// The attributes that KeePassXC adds to every item.
  static let provided: Set<String> = ["Title", "UserName", "URL", "Notes", "Uuid", "Path"]
}

extension CredentialQuery {
  static func isReserved(_ name: String) -> Bool { SearchablePair.reservedNames.contains(name) }
}

/// Encodes bytes so that every provider preserves them.
///
/// No provider preserves all bytes. gnome-keyring's keyrings without a password lose everything at
/// the next start if one value contains a line break, and they convert `\n` or `\s` in a secret to
/// a line break or a space. KeePassXC stores text without control characters, and replaces
/// `{USERNAME}` and similar text by other fields. KWallet stores UTF-8. Text that a provider could
/// change, or that looks like a data URL, is written as a data URL (RFC 2397). Everything else is
/// written unchanged, so that other programs can read it.
enum StoredText {
  static let prefix = "data:application/octet-stream;base64,"

  /// Returns the secret in its stored form.
  static func encode(_ secret: borrowing SecretBytes) throws(KeychainError) -> SecretBytes {
    let isSafe = secret.withBytes { isKeptByEveryone($0) }
    return try isSafe ? secret.copy() : secret.base64Encoded(after: prefix)
  }

  /// Returns the original secret; `nil` if the stored form is damaged.
  static func decode(_ stored: consuming SecretBytes) throws(KeychainError) -> SecretBytes? {
    guard stored.withBytes({ starts($0, with: prefix) }) else { return stored }
    return try stored.base64Decoded(after: prefix.utf8.count)
  }

  /// Returns a name in its stored form, by the same rule.
  static func encode(_ name: String) -> String {
    let bytes = Array(name.utf8)
    return unsafe isKeptByEveryone(bytes.span.bytes) ? name : prefix + bytes.base64
  }

  static func isKeptByEveryone(_ name: String) -> Bool {
    unsafe isKeptByEveryone(Array(name.utf8).span.bytes)
  }

  private static func isKeptByEveryone(_ bytes: RawSpan) -> Bool {
    guard bytes.isUTF8, !starts(bytes, with: prefix), !starts(bytes, with: " "),
      !starts(bytes, with: "\u{FEFF}")
    else { return false }
    var previous: (UInt8, UInt8) = (0, 0)
    for index in 0..<bytes.byteCount {
      let byte = bytes.byte(at: index)
      switch (previous.0, previous.1, byte) {
      case (_, _, 0..<0x20), (_, _, 0x7F), (_, _, UInt8(ascii: "\\")): return false
      // U+0080 to U+009F are control characters, too, and U+FFFE and U+FFFF are not characters.
      case (_, 0xC2, 0x80..<0xA0), (0xEF, 0xBF, 0xBE...0xBF): return false
      case (_, UInt8(ascii: "{"), UInt8(ascii: "A")...UInt8(ascii: "Z")): return false
      case (_, UInt8(ascii: "{"), UInt8(ascii: "a")...UInt8(ascii: "z")): return false
      default: previous = (previous.1, byte)
      }
    }
    return true
  }

  private static func starts(_ bytes: RawSpan, with prefix: String) -> Bool {
    let count = prefix.utf8.count
    guard bytes.byteCount >= count else { return false }
    return prefix.utf8.enumerated().allSatisfy { bytes.byte(at: $0.offset) == $0.element }
  }
}

extension RawSpan {
  fileprivate var isUTF8: Bool {
    unsafe withUnsafeBytes { buffer in
      let bytes = unsafe buffer.bindMemory(to: UInt8.self)
      return (try? unsafe UTF8Span(validating: bytes.span)) != nil
    }
  }
}

/// The attributes of a credential, stored as one attribute of its item.
///
/// The other attributes are for other programs and for searching; this one is authoritative. It
/// changes in one step, can contain names that no attribute can (with a NUL), distinguishes
/// *absent* from *empty*, and works with a provider that adds its own attributes or never removes
/// any (KeePassXC).
struct CredentialRecord: Codable {
  private var format = 1
  private let group: String
  private let generic: [String]?
  private let internet: [String]?
  private let accessibility: String
  private let label: String?
  private let comment: String?
  private let contentType: String?
  private let attributes: [[String]]
  private let expires: Int64?
  private let created: Int64
  private let modified: Int64
  private let version: UInt64

  init(_ credential: Credential) {
    group = credential.identity.accessGroup
    switch credential.identity.kind {
    case .genericPassword(let service, let account):
      generic = [service, account]
      internet = nil
    case .internetPassword(let password):
      generic = nil
      internet = [
        password.server, password.protocol, String(password.port), password.path,
        password.account, password.securityDomain, password.authenticationType,
      ]
    }
    accessibility = credential.accessibility.description
    label = credential.label
    comment = credential.comment
    contentType = credential.contentType
    attributes = credential.attributes.map { [$0.name, $0.value] }
    expires = credential.expires?.microseconds
    created = credential.created.microseconds ?? 0
    modified = credential.modified.microseconds ?? 0
    version = credential.version
  }

  /// The credential; `nil` if the record is invalid.
  var credential: Credential? {
    guard let identity, let accessibility = Accessibility(accessibility) else { return nil }
    var pairs = CredentialAttributes()
    for pair in attributes {
      guard pair.count == 2 else { return nil }
      pairs[pair[0]] = pair[1]
    }
    var credential = Credential(
      identity, accessibility: accessibility, label: label, comment: comment,
      contentType: contentType, expires: expires.map { Date(microseconds: $0) },
      attributes: pairs)
    credential.restore(
      version: version, created: Date(microseconds: created),
      modified: Date(microseconds: modified))
    return credential
  }

  private var identity: CredentialIdentity? {
    if let generic, generic.count == 2 {
      return .genericPassword(service: generic[0], account: generic[1], accessGroup: group)
    }
    guard let internet, internet.count == 7, let port = UInt16(internet[2]) else { return nil }
    return CredentialIdentity(
      .internetPassword(
        InternetPassword(
          server: internet[0], protocol: internet[1], port: port, path: internet[3],
          account: internet[4], securityDomain: internet[5], authenticationType: internet[6])),
      accessGroup: group)
  }

  /// The record as ASCII JSON, which every provider preserves.
  var text: String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else { return nil }
    return String(decoding: data, as: UTF8.self).utf16.reduce(into: "") { text, unit in
      if let scalar = Unicode.Scalar(unit), unit < 0x7F {
        text.unicodeScalars.append(scalar)
      } else {
        let digits = String(unit, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
  }

  enum Reading {
    case credential(Credential)
    case damaged
    case newerFormat
  }

  private struct Format: Decodable { let format: Int }

  static func read(_ text: String) -> Reading {
    var text = text
    // For `Data(text.utf8)`, the runtime would search all conformances of the program.
    let data = text.withUTF8 { unsafe Data(buffer: $0) }
    if let record = try? JSONDecoder().decode(Self.self, from: data), record.format == 1 {
      return record.credential.map { .credential($0) } ?? .damaged
    }
    let format = try? JSONDecoder().decode(Format.self, from: data).format
    return format.map { $0 > 1 } ?? false ? .newerFormat : .damaged
  }
}
