internal import KeychainCredentials
internal import KeychainVault

/// The result of an export in JSON.
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

/// The result of an import in JSON.
struct ImportJSON: Encodable {
  let dryRun: Bool
  let added: Int
  let unchanged: Int
  let overwritten: Int
  let leftAlone: Int
  let leftOut: Int

  /// The existing credentials that differ.
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
