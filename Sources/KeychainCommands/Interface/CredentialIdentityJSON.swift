internal import KeychainCredentials

/// The names of a credential, as JSON shows them.
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
