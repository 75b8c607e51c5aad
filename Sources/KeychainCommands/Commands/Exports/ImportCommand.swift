internal import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine

/// Adds the credentials of an export to the vault.
struct ImportCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Add the credentials of an export to the vault",
    discussion: """
      Everything is imported in one step, or nothing. Credentials that exist already are kept unless \
      --overwrite is given, which replaces those that differ, with all that is known about them. The \
      import trusts everybody who knew the passphrase of the export. '-' reads standard input.

      Example:
        \(keychainPath) import /media/stick/keychain.export --dry-run
        \(keychainPath) import /media/stick/keychain.export
      """)

  @Argument(help: "The export, or - for standard input", completion: .file())
  var file: String

  @OptionGroup(title: "The passphrase of the export") var passphrase: ExportPassphraseOptions

  @Flag(help: "Replace existing credentials that differ")
  var overwrite = false

  @Flag(help: "Only report what would be done, and name the credentials that differ")
  var dryRun = false

  @Flag(help: "Print what was done as JSON, with the names of credentials that differ")
  var json = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  private var isFromInput: Bool { file == "-" }

  func validate() throws {
    try passphrase.requireOwnDescriptor([common.passphraseFd, isFromInput ? STDIN_FILENO : nil])
    if isFromInput, common.passphraseFd == STDIN_FILENO {
      throw ValidationError(UsageText.exportDescriptorTwice)
    }
  }

  func perform(in session: Session) throws(KeychainError) {
    try checkSource()
    let passphrase = try session.passphraseOfExport(passphrase)
    let report = try session.withProgress { progress throws(KeychainError) in
      isFromInput
        ? try session.vault.importItems(
          fromFileDescriptor: STDIN_FILENO, passphrase: passphrase, overwriting: overwrite,
          isDryRun: dryRun, progress: progress)
        : try session.vault.importItems(
          from: file, passphrase: passphrase, overwriting: overwrite, isDryRun: dryRun,
          progress: progress)
    }
    if json {
      try CommandOutput.write(try CommandOutput.json(ImportJSON(report, isDryRun: dryRun)))
    }
    describe(report, session.interface)
  }

  /// Called first, so that nobody is asked for the passphrase of a file that cannot be read.
  private func checkSource() throws(KeychainError) {
    guard isFromInput else {
      guard access(file, R_OK) == 0 else { throw .cannotOpen(file, errno: errno) }
      return
    }
    guard isatty(STDIN_FILENO) == 0 else { throw .importFromTerminal }
    guard !StandardDescriptors.wasClosed(STDIN_FILENO) else {
      throw .inputClosed(ExportText.exportOnInput)
    }
  }

  private func describe(_ report: ImportReport, _ interface: UserInterface) {
    // Overwriting was requested, but skipped credentials may be missed.
    if dryRun || !overwrite {
      for identity in report.differing {
        interface.say(
          ExportText.differs(identity, isOverwriting: overwrite, isDryRun: dryRun))
      }
    }
    interface.say(ExportText.summary(of: report, isDryRun: dryRun))
    if report.leftOutCount > 0 {
      interface.say(ExportText.stayedBehind(report.leftOutCount))
    }
    if !overwrite, !report.differing.isEmpty { interface.hint(ExportText.overwriteToReplace) }
  }
}
