internal import KeychainCredentials
internal import KeychainVault

/// What was exported, as JSON shows it.
struct ExportJSON: Encodable {
  let file: String
  let items: Int
  let leftOut: Int

  init(_ report: ExportReport, file: String) {
    self.file = file
    items = report.itemCount
    leftOut = report.leftOutCount
  }
}

/// What was imported, as JSON shows it.
struct ImportJSON: Encodable {
  let dryRun: Bool
  let added: Int
  let unchanged: Int
  let overwritten: Int
  let leftAlone: Int
  let leftOut: Int

  /// The credentials that were there and differ.
  let differing: [CredentialIdentityJSON]

  init(_ report: ImportReport, isDryRun: Bool) {
    dryRun = isDryRun
    added = report.addedCount
    unchanged = report.unchangedCount
    overwritten = report.isOverwriting ? report.differing.count : 0
    leftAlone = report.isOverwriting ? 0 : report.differing.count
    leftOut = report.leftOutCount
    differing = report.differing.map(CredentialIdentityJSON.init)
  }
}

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
