internal import KeychainCredentials
internal import KeychainStores

/// The result of a migration in JSON.
struct MigrationJSON: Encodable {
  let dryRun: Bool
  let from: String
  let to: String
  let copied: Int
  let overwritten: Int
  let unchanged: Int
  let removed: Int

  /// The number of credentials in both stores because their service did not change over.
  let inBoth: Int

  /// The credentials that stay in the source, each with the reason.
  let staying: [Staying]
  let damaged: [String]
  let ofOtherDevices: Int
  let ofOtherPrograms: Int
  let completeServices: [ServiceJSON]
  let incompleteServices: [ServiceJSON]

  struct Staying: Encodable {
    let credential: CredentialIdentityJSON
    let code: String
    let reason: String
  }

  /// A service or a server.
  struct ServiceJSON: Encodable {
    private(set) var service: String?
    private(set) var server: String?

    init(_ identity: CredentialIdentity) {
      switch identity.kind {
      case .genericPassword(let service, _): self.service = service
      case .internetPassword(let password): server = password.server
      }
    }
  }

  init(_ report: MigrationReport, from source: StorePlace, to target: StorePlace, isDryRun: Bool) {
    dryRun = isDryRun
    from = source.name
    to = target.name
    copied = report.copiedCount
    overwritten = report.replacedCount
    unchanged = report.unchangedCount
    removed = report.removedCount
    inBoth = report.strandedCount
    staying = report.obstacles.map { obstacle in
      Staying(
        credential: CredentialIdentityJSON(obstacle.identity),
        code: obstacle.reason.code.description, reason: obstacle.reason.message)
    }
    damaged = report.damaged
    ofOtherDevices = report.otherDeviceCount
    ofOtherPrograms = report.otherProgramsCount
    completeServices = report.completeServices.map { ServiceJSON($0) }
    incompleteServices = report.incompleteServices.map { ServiceJSON($0) }
  }
}
