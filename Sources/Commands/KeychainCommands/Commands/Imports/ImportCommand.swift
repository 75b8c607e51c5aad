internal import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Adds the credentials of an export, or of another program's file.
struct ImportCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Add the credentials of an export, or of a netrc file",
    discussion: """
      An export is imported in one step, or not at all. Credentials that exist already are kept \
      unless --overwrite is given, which replaces those that differ, with all that is known about \
      them. The import trusts everybody who knew the passphrase of the export. '-' reads standard \
      input.

      With --format netrc, the passwords of a netrc file, without FILE those of ~/.netrc, become \
      internet passwords of the protocol https in the stores of their servers. On a terminal, it \
      is asked whether to remove them from the file. Entries that only ftp can use stay.

      Example:
        \(keychainPath) import /media/stick/keychain.export --dry-run
        \(keychainPath) import /media/stick/keychain.export
        \(keychainPath) import --format netrc --dry-run
        \(keychainPath) import --format netrc --remove
      """)

  @Argument(
    help: "The file, or - for standard input; ~/.netrc for a netrc file", completion: .file())
  var file: String?

  @Option(help: .init("What is read: keychain (an export), or netrc", valueName: "format"))
  var format = ImportFormat.keychain

  @OptionGroup(title: "The passphrase of the export") var passphrase: ExportPassphraseOptions

  @Flag(help: "Replace existing credentials that differ")
  var overwrite = false

  @Flag(help: "Only report what would be done, and name the credentials that differ")
  var dryRun = false

  @Flag(help: "Print what was done as JSON, with the names of credentials that differ")
  var json = false

  @Flag(help: "Remove from the netrc file what is stored then, without asking")
  var remove = false

  @Flag(help: "Leave the netrc file as it is, without asking")
  var keep = false

  @OptionGroup(title: "Which store, of a netrc file") var stores: StoreChoiceOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  var storeOptions: StoreChoiceOptions? { format == .netrc ? stores : nil }

  var isFromInput: Bool { file == "-" }

  func validate() throws {
    if remove && keep { throw ValidationError(UsageText.removeOrKeep) }
    if remove && stores.sessionOnly { throw ValidationError(UsageText.removeOfSession) }
    if remove && isFromInput { throw ValidationError(UsageText.removeFromInput) }
    guard format == .keychain else {
      if passphrase.source.isGiven { throw ValidationError(UsageText.noExportPassphrase) }
      if isFromInput, common.passphraseFd == STDIN_FILENO {
        throw ValidationError(UsageText.inputTwice)
      }
      return
    }
    guard file != nil else { throw ValidationError(UsageText.missingExport) }
    if remove || keep || stores.choice != nil { throw ValidationError(UsageText.onlyOfNetrc) }
    try passphrase.requireOwnDescriptor([common.passphraseFd, isFromInput ? STDIN_FILENO : nil])
    if isFromInput, common.passphraseFd == STDIN_FILENO {
      throw ValidationError(UsageText.exportDescriptorTwice)
    }
  }

  func perform(in session: Session) throws {
    guard format == .keychain, let file else { return try importNetrc(in: session) }
    let source = try openSource(file, in: session)
    defer { if !isFromInput { close(source) } }
    let name = isFromInput ? "standard input" : file
    do {
      try Vault.requireExport(source, name: name)
    } catch {
      throw error.code == .foreign ? .noExport(error) : error
    }
    let passphrase = try session.passphraseOfExport(passphrase)
    let report = try session.withProgress { progress in
      try session.vault.importItems(
        from: source, name: name, passphrase,
        overwriting: overwrite, isDryRun: dryRun, progress)
    }
    if json {
      try session.output.write(json: ExportText.json(of: report, isDryRun: dryRun))
    }
    describe(report, session.interface)
  }

  /// Called first, so that nobody is asked for the passphrase of an unreadable file.
  private func openSource(_ file: String, in session: Session) throws -> Int32 {
    guard isFromInput else {
      return try WaitingFile.open(file, within: session.asking.deadline?.left) {
        .cannotOpen(file, errno: $0)
      }
    }
    guard !session.console.input.isTerminal else { throw KeychainError.importFromTerminal }
    guard !session.console.input.wasClosed else {
      throw CommandLineError.inputClosed(ExportText.exportOnInput)
    }
    return session.console.input.descriptor
  }

  private func describe(_ report: ImportReport, _ interface: UserInterface) {
    // The person requested overwriting, but the skipped credentials may be missed.
    if dryRun || !overwrite {
      for identity in report.differing {
        interface.say(ExportText.differs(identity, isOverwriting: overwrite, isDryRun: dryRun))
      }
    }
    interface.say(ExportText.summary(of: report, isDryRun: dryRun))
    if report.leftOutCount > 0 {
      interface.say(ExportText.stayedBehind(report.leftOutCount))
    }
    if !overwrite, !report.differing.isEmpty { interface.hint(ExportText.overwriteToReplace) }
  }
}

enum ImportFormat: String, ExpressibleByArgument, CaseIterable {
  /// An export of this package.
  case keychain

  /// The passwords of servers that curl, SwiftPM and others read.
  case netrc
}
