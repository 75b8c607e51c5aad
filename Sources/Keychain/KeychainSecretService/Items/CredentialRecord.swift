internal import FoundationEssentials
internal import KeychainCredentials

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
}

extension CredentialRecord {
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
    // Not `Data(text.utf8)`: for the type of the view, the runtime would look through all
    // conformances of the program.
    let data = text.withUTF8 { unsafe Data(buffer: $0) }
    if let record = try? JSONDecoder().decode(Self.self, from: data), record.format == 1 {
      return record.credential.map { .credential($0) } ?? .damaged
    }
    let format = try? JSONDecoder().decode(Format.self, from: data).format
    return format.map { $0 > 1 } ?? false ? .newerFormat : .damaged
  }
}
