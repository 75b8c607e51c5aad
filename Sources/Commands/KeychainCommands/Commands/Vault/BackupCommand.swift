internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine

/// Copies the vault while it is in use.
struct BackupCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy the vault while it is in use",
    usage: usage("backup [<options>] <file>"),
    discussion: """
      The copy is a vault, encrypted like the original and opened by the same slots; it is read again and \
      verified. With --replace, the complete new backup replaces an older one of the same vault in \
      one step; any other file is kept.

      Examples:
        \(keychainPath) backup /backup/vault.db
        \(keychainPath) backup /backup/vault.db --replace
      """)

  @Argument(help: "The file to create", completion: .file())
  var file: String

  @Flag(help: "Replace an older backup of the same vault")
  var replace = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func validate() throws {
    guard file != "-" else { throw ValidationError(UsageText.backupToOutput) }
  }

  func perform(in session: Session) throws(KeychainError) {
    let report = try session.withProgress { progress throws(KeychainError) in
      try session.vault.backup(to: file, replacing: replace, progress: progress)
    }
    session.interface.say(VaultText.summary(of: report, file: file))
    if report.deviceItemCount > 0 {
      session.interface.say(VaultText.boundToDevice(report.deviceItemCount))
    }
    session.reportKeyring()
    if report.needsThisDevice { session.interface.hint(VaultText.backupNeedsThisDevice) }
  }
}
