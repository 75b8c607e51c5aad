internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

/// A credential as JSON shows it; what is not set is left out.
struct CredentialJSON: Encodable {
  var kind: String
  var accessGroup: String
  var account: String
  var service: String?
  var server: String?
  var `protocol`: String?
  var port: UInt16?
  var path: String?
  var securityDomain: String?
  var authenticationType: String?
  var accessibility: String
  var label: String?
  var comment: String?
  var contentType: String?
  var attributes: AttributesJSON
  var created: Date
  var modified: Date
  var expires: Date?
  var expired: Bool
  var version: UInt64

  /// `utf-8` or `base64`: how ``secret`` is written.
  var encoding: String?

  /// The secret, only where it was asked for.
  var secret: String?

  init(_ credential: Credential) {
    kind = "genericPassword"
    accessGroup = credential.identity.accessGroup
    account = credential.identity.account
    accessibility = credential.accessibility.description
    label = credential.label
    comment = credential.comment
    contentType = credential.contentType
    attributes = AttributesJSON(attributes: credential.attributes)
    created = credential.created
    modified = credential.modified
    expires = credential.expires
    expired = credential.isExpired()
    version = credential.version
    setNames(credential.identity.kind)
  }

  private mutating func setNames(_ names: CredentialIdentity.Kind) {
    switch names {
    case .genericPassword(let service, _): self.service = service
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

  /// Puts the secret in, as text if it is text.
  mutating func reveal(_ bytes: RawSpan) {
    if let text = bytes.text {
      (encoding, secret) = ("utf-8", text)
    } else {
      (encoding, secret) = ("base64", Data(bytes.array).base64EncodedString())
    }
  }
}
