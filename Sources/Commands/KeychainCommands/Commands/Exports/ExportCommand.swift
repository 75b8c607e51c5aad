internal import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Writes credentials to a file for another vault.
struct ExportCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write the credentials into a file for another vault",
    discussion: """
      The export opens by a passphrase of its own, asked for twice, and by nothing else. Anyone \
      who knows it can read everything in it: keep it apart from the file, and delete the file \
      after the import. Items whose accessibility ends in ThisDeviceOnly stay behind. '-' writes \
      to standard output. \(servicesThatAreExported)

      Example:
        \(keychainPath) export /media/stick/keychain.export
        \(keychainPath) export web.export --service example.com --service example.org
        \(keychainPath) export - --export-passphrase-file ~/move.pass | ssh server \
      \(keychainPath) import - --export-passphrase-file move.pass
      """)

  @Argument(help: "The file to create, or - for standard output", completion: .file())
  var file: String

  @Option(
    name: .shortAndLong, parsing: .unconditionalSingleValue,
    help: .init("Only credentials of a service; may be repeated", valueName: "name"),
    completion: .services)
  var service: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("Only internet passwords of a server; may be repeated", valueName: "host"),
    completion: .servers)
  var server: [String] = []

  @OptionGroup var scope: ServiceScopeOptions

  @OptionGroup(title: "The passphrase of the export") var passphrase: ExportPassphraseOptions

  @Flag(help: "Print what was exported as JSON")
  var json = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  private var isToOutput: Bool { file == "-" || DescriptorPath.number(file) == STDOUT_FILENO }

  func validate() throws {
    guard !isToOutput || !json else { throw ValidationError(UsageText.exportOrJSON) }
    try scope.check(isServiceNamed: !service.isEmpty || !server.isEmpty)
    try passphrase.requireOwnDescriptor([common.passphraseFd])
  }

  func perform(in session: Session) throws {
    try checkTarget(session.console.output)
    let services = services
    try unlock(session, services)
    let queries = services?.map(\.query)
    let passphrase = try session.newPassphraseOfExport(passphrase)
    let isShort = passphrase.count < Vault.usualPassphraseCount
    let oddity = passphrase.oddity
    let report = try session.withProgress { progress in
      isToOutput
        ? try session.vault.export(
          toFileDescriptor: session.console.output.descriptor, passphrase: passphrase,
          matching: queries,
          progress: progress)
        : try session.vault.export(
          to: file, passphrase: passphrase, matching: queries, progress: progress)
    }
    if json { try session.output.write(json: ExportText.json(of: report, file: file)) }
    session.interface.say(ExportText.summary(of: report, file: isToOutput ? nil : file))
    if report.leftOutCount > 0 {
      session.interface.say(ExportText.stayBehind(report.leftOutCount))
    }
    if isShort { session.interface.hint(ExportText.shortExportPassphrase) }
    if let oddity { session.interface.hint(ExportText.oddExportPassphrase(oddity)) }
    for query in queries ?? [CredentialQuery()] { session.reportKeyring(query) }
  }

  /// Called first, so that nobody chooses a passphrase for an export that cannot be written.
  private func checkTarget(_ output: StandardStream) throws {
    guard isToOutput else {
      var status = stat()
      guard lstat(file, &status) != 0 else { throw KeychainError.fileExists(file) }
      return
    }
    guard !output.isTerminal else { throw KeychainError.exportToTerminal }
    guard !output.wasClosed else {
      throw CommandLineError.outputFailed(errno: EBADF)
    }
  }

  /// The services and servers that are exported; `nil` for all.
  private var services: [ServiceName]? {
    let named = service.map { ServiceName(.service, $0) } + server.map { ServiceName(.server, $0) }
    guard named.isEmpty, !scope.allServices else { return named.isEmpty ? nil : named }
    return KeychainCommandContext.current.ownService.map { [ServiceName(.service, $0)] }
  }

  /// Unlocks before asking for the export's passphrase, and checks that there is something to
  /// export.
  private func unlock(_ session: Session, _ services: [ServiceName]?) throws {
    for service in services ?? [] {
      guard try session.vault.itemCounts(matching: [service.query]).isEmpty else { continue }
      throw try (session.stores.recordedPlace(of: service) ?? .vault) != .vault
        ? KeychainError.exportOfKeyring(service) : .nothingToExport("\(service)")
    }
    let counts = try session.vault.itemCounts(matching: services?.map(\.query))
    try session.vault.ensureReadable(counts.requirementOfExport)
  }

  /// The services that are exported by default, for the help.
  private static var servicesThatAreExported: String {
    KeychainCommandContext.current.ownService.map {
      "Those of the service '\($0)' are exported unless other ones are named, or --all-services is "
        + "given."
    } ?? "Credentials of every service are exported unless some are named."
  }
}

enum ExportText {
  /// Reports what was exported; without a file, to standard output.
  static func summary(of report: ExportReport, file: String?) -> String {
    "exported \(Words.items(report.itemCount)) to \(file ?? "standard output")"
  }

  static let shortExportPassphrase =
    "the passphrase of the export is short, and anyone who gets the file can try many: take a "
    + "longer one, such as six words chosen at random"

  static func oddExportPassphrase(_ oddity: String) -> String {
    "the passphrase of the export \(oddity), which has to be given the same way to import it"
  }

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

  static let backupToTerminal = KeychainError(
    .refused, "a backup is not written to a terminal",
    recovery: "name a file, or redirect standard output to one")

  static let importFromTerminal = KeychainError(
    .refused, "an export is not read from a terminal",
    recovery: "name a file, or redirect one to standard input")

  /// The error of a file in another format; its recovery lists the supported ones.
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

extension ExportText {
  static func json(of report: ExportReport, file: String) -> JSONValue {
    .members([("file", file), ("items", report.itemCount), ("leftOut", report.leftOutCount)])
  }

  static func json(of report: ImportReport, isDryRun: Bool) -> JSONValue {
    let (differing, isOverwriting) = (report.differing, report.isOverwriting)
    return .members([
      ("dryRun", isDryRun), ("added", report.addedCount), ("unchanged", report.unchangedCount),
      ("overwritten", isOverwriting ? differing.count : 0),
      ("leftAlone", isOverwriting ? 0 : differing.count), ("leftOut", report.leftOutCount),
      ("differing", differing),
    ])
  }
}
