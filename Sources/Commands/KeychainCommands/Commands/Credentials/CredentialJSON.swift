internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

/// A credential in JSON; absent attributes are omitted.
struct CredentialJSON: Encodable {
  private let identity: CredentialIdentityJSON
  private let facts: CredentialFactsJSON
  private var revealed: RevealedSecretJSON?

  init(_ credential: Credential) {
    identity = CredentialIdentityJSON(credential.identity)
    facts = CredentialFactsJSON(credential)
  }

  /// Puts all into one object.
  func encode(to encoder: any Encoder) throws {
    try identity.encode(to: encoder)
    try facts.encode(to: encoder)
    try revealed?.encode(to: encoder)
  }

  /// Adds the secret, as text if it is text.
  mutating func reveal(_ bytes: RawSpan) {
    revealed = RevealedSecretJSON(bytes)
  }
}

/// The attributes of a credential, without its names.
private struct CredentialFactsJSON: Encodable {
  let accessibility: String
  let label: String?
  let comment: String?
  let contentType: String?
  let attributes: AttributesJSON
  let created: Date
  let modified: Date
  let expires: Date?
  let expired: Bool

  /// `true` for another program's item; omitted for ours.
  let otherProgram: Bool?

  /// The version as text: readers of JSON that keep numbers as doubles would lose digits.
  let version: String

  init(_ credential: Credential) {
    accessibility = credential.accessibility.description
    label = credential.label
    comment = credential.comment
    contentType = credential.contentType
    attributes = AttributesJSON(attributes: credential.attributes)
    created = credential.created
    modified = credential.modified
    expires = credential.expires
    expired = credential.isExpired()
    otherProgram = credential.isOfOtherProgram ? true : nil
    version = String(credential.version)
  }
}

/// A secret in JSON.
struct RevealedSecretJSON: Encodable {
  /// The encoding of ``secret``: `utf-8` or `base64`.
  let encoding: String
  let secret: String

  /// Creates it from a secret, as text if it is text.
  init(_ bytes: RawSpan) {
    if let text = bytes.text {
      (encoding, secret) = ("utf-8", text)
    } else {
      (encoding, secret) = ("base64", Data(bytes.array).base64EncodedString())
    }
  }
}

/// The names of a credential in JSON.
struct CredentialIdentityJSON: Encodable {
  let kind: String
  let accessGroup: String
  let account: String
  private(set) var service: String?
  private(set) var server: String?
  private(set) var `protocol`: String?
  private(set) var port: UInt16?
  private(set) var path: String?
  private(set) var securityDomain: String?
  private(set) var authenticationType: String?

  init(_ identity: CredentialIdentity) {
    accessGroup = identity.accessGroup
    account = identity.account
    switch identity.kind {
    case .genericPassword(let service, _):
      kind = "genericPassword"
      self.service = service
    case .internetPassword(let password):
      kind = "internetPassword"
      server = password.server
      `protocol` = password.protocol
      port = password.port
      path = password.path
      securityDomain = password.securityDomain
      authenticationType = password.authenticationType
    }
  }
}
