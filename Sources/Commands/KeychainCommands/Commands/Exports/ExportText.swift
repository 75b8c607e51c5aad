internal import KeychainCredentials
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine

/// The texts about exports and imports.
enum ExportText {
  /// Returns what was exported; without a file, to standard output.
  static func summary(of report: ExportReport, file: String?) -> String {
    "exported \(Words.items(report.itemCount)) to \(file ?? "standard output")"
  }

  static let shortExportPassphrase =
    "the passphrase of the export is short, and whoever gets the file can try many: take a longer one, "
    + "such as six words chosen at random"

  static func stayBehind(_ count: Int) -> String {
    "\(Words.items(count)) \(count == 1 ? "stays" : "stay") behind, bound to a device"
  }

  static let exportOnInput = "name the file of the export, or redirect it to standard input"

  static func summary(of report: ImportReport, isDryRun: Bool) -> String {
    let differing = report.differing.count
    let parts = [
      differing == 0 ? nil : "\(differing) \(report.isOverwriting ? "overwritten" : "left alone")",
      report.unchangedCount == 0 ? nil : "\(report.unchangedCount) there already, unchanged",
    ].compactMap(\.self)
    let verb = isDryRun ? "would import" : "imported"
    return ([("\(verb) \(Words.items(report.addedCount))")] + parts).joined(separator: "; ")
  }

  static func stayedBehind(_ count: Int) -> String {
    "\(Words.items(count)) stayed behind when the export was made, bound to a device"
  }

  static func differs(
    _ identity: CredentialIdentity, isOverwriting: Bool, isDryRun: Bool
  ) -> String {
    "\(isDryRun ? "would be " : "")\(isOverwriting ? "overwritten" : "left alone"): \(identity)"
  }

  static let overwriteToReplace = "--overwrite replaces credentials that are there and differ"
}

extension KeychainError {
  static let exportToTerminal = KeychainError(
    .refused, "an export is not written to a terminal",
    recovery: "name a file, or redirect standard output to one")

  static let importFromTerminal = KeychainError(
    .refused, "an export is not read from a terminal",
    recovery: "name a file, or redirect one to standard input")

  /// The error of a file that has another format; its recovery lists those that are read.
  static func noExport(_ error: KeychainError) -> Self {
    let formats: Recovery =
      "'import' reads files that \(.export) made, and a netrc file with --format netrc"
    return Self(
      .foreign, error.message,
      recovery: [error.recovery, formats].compactMap(\.self).joined(separator: "; "))
  }

  static func nothingToExport(_ name: String) -> Self {
    Self(
      .notFound, "there is nothing to export: the vault has no credential of \(name)",
      recovery: "see what there is with '\(KeychainCommandContext.current.commandPath) list"
        + "\(KeychainCommandContext.current.scopeOption())'")
  }

  static func exportOfKeyring(_ service: ServiceName) -> Self {
    Self(
      .notFound,
      "there is nothing to export: the credentials of \(service) are in the desktop keyring",
      recovery: "move them into the vault first, with "
        + "'\(KeychainCommandContext.current.commandPath) migrate --from secret-service --to vault"
        + "\(KeychainCommandContext.current.scopeOption(reaching: service))'")
  }
}
