internal import KeychainCredentials
internal import KeychainHelpers

/// The result of an import of a netrc file in JSON.
struct NetrcImportJSON: Encodable {
  let dryRun: Bool
  let added: Int
  let unchanged: Int
  let overwritten: Int
  let leftAlone: Int

  /// How many entries were not taken, by reason.
  let notTaken: [String: Int]

  /// The existing credentials that differ.
  let differing: [CredentialIdentityJSON]

  /// The number of entries that were removed from the file, or would be.
  let removedEntries: Int

  init(_ report: borrowing NetrcImport, isDryRun: Bool, removedCount: Int) {
    dryRun = isDryRun
    added = report.items(.absent).count
    unchanged = report.items(.same).count
    let differing = report.items(.differing).map(\.identity)
    overwritten = report.isOverwriting ? differing.count : 0
    leftAlone = report.isOverwriting ? 0 : differing.count
    notTaken = Dictionary(report.plan.left.map { ($0.obstacle.rawValue, 1) }, uniquingKeysWith: +)
    self.differing = differing.map(CredentialIdentityJSON.init)
    removedEntries = removedCount
  }
}
