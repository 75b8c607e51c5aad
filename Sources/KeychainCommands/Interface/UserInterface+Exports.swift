internal import KeychainCredentials
internal import KeychainVault

extension UserInterface {
  /// What was exported; without a file, to standard output.
  static func summary(of report: ExportReport, file: String?) -> String {
    "exported \(items(report.itemCount)) to \(file ?? "standard output")"
  }

  static let shortExportPassphrase =
    "the passphrase of the export is short, and whoever gets the file can try many: take a longer one, "
    + "such as six words chosen at random"

  static func stayBehind(_ count: Int) -> String {
    "\(items(count)) \(count == 1 ? "stays" : "stay") behind, bound to a device"
  }

  static func stayedBehind(_ count: Int) -> String {
    "\(items(count)) stayed behind when the export was made, bound to a device"
  }

  static func summary(of report: ImportReport, isDryRun: Bool) -> String {
    let differing = report.differing.count
    let parts = [
      differing == 0 ? nil : "\(differing) \(report.isOverwriting ? "overwritten" : "left alone")",
      report.unchangedCount == 0 ? nil : "\(report.unchangedCount) there already, unchanged",
    ].compactMap(\.self)
    let verb = isDryRun ? "would import" : "imported"
    return ([("\(verb) \(items(report.addedCount))")] + parts).joined(separator: "; ")
  }

  static func differs(
    _ identity: CredentialIdentity, isOverwriting: Bool, isDryRun: Bool
  ) -> String {
    "\(isDryRun ? "would be " : "")\(isOverwriting ? "overwritten" : "left alone"): \(identity)"
  }

  static let overwriteToReplace = "--overwrite replaces credentials that are there and differ"
}

/// The failures of exports and imports that the commands find themselves.
extension KeychainError {
  static let emptyExportPassphrase = KeychainError(
    .refused, "an empty passphrase protects nothing", recovery: "choose one for the export")

  static func exportExists(_ path: String) -> Self {
    Self(.alreadyExists, "\(path) exists already", recovery: "name a new file")
  }

  static let exportToTerminal = KeychainError(
    .refused, "an export is not written to a terminal",
    recovery: "name a file, or lead standard output into one")

  static let importFromTerminal = KeychainError(
    .refused, "an export is not read from a terminal",
    recovery: "name a file, or lead one into standard input")
}
