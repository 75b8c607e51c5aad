internal import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import KeychainVault

/// Writes the credentials into a file for another vault.
struct ExportCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write the credentials into a file for another vault",
    discussion: """
      The export opens by a passphrase of its own, asked for twice, and by nothing else. Whoever knows \
      it can read everything in it: keep it apart from the file, and delete the file after the import. \
      Items whose accessibility ends in ThisDeviceOnly stay behind. '-' writes to standard output.

      Example:
        \(keychainPath) export /media/stick/keychain.export
        \(keychainPath) export - --export-passphrase-file ~/move.pass | ssh server \
      \(keychainPath) import - --export-passphrase-file move.pass
      """)

  @Argument(help: "The file to make, or - for standard output", completion: .file())
  var file: String

  @OptionGroup(title: "The passphrase of the export") var passphrase: ExportPassphraseOptions

  @Flag(help: "Print what was exported as JSON")
  var json = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  private var isToOutput: Bool { file == "-" }

  func validate() throws {
    guard !isToOutput || !json else { throw ValidationError(UserInterface.Usage.exportOrJSON) }
    try passphrase.requireOwnDescriptor([common.passphraseFd])
  }

  func perform(in session: Session) throws(KeychainError) {
    try checkTarget()
    try unlock(session)
    let passphrase = try passphrase.newPassphrase(in: session)
    let report = try session.withProgress { progress throws(KeychainError) in
      isToOutput
        ? try session.vault.export(
          toFileDescriptor: STDOUT_FILENO, passphrase: passphrase, progress: progress)
        : try session.vault.export(to: file, passphrase: passphrase, progress: progress)
    }
    if json { try StandardOutput.write(try JSONText.text(ExportJSON(report, file: file))) }
    session.interface.say(UserInterface.summary(of: report, file: isToOutput ? nil : file))
    if report.leftOutCount > 0 {
      session.interface.say(UserInterface.stayBehind(report.leftOutCount))
    }
    session.tellOfKeyring()
  }

  /// Nobody should choose a passphrase for an export that cannot be made.
  private func checkTarget() throws(KeychainError) {
    guard isToOutput else {
      var status = stat()
      guard lstat(file, &status) != 0 else { throw .exportExists(file) }
      return
    }
    guard !StandardOutput.isTerminal else { throw .exportToTerminal }
    guard !StandardDescriptors.wasClosed(STDOUT_FILENO) else { throw .outputFailed(errno: EBADF) }
  }

  /// The passphrase of the vault is asked for before that of the export.
  private func unlock(_ session: Session) throws(KeychainError) {
    // This fails without a vault, which a status does not.
    _ = try session.vault.slots()
    let status = try session.vault.status()
    let requirement = status.itemsByAccessibility.keys.filter { !$0.isThisDeviceOnly }
      .map(\.requires).max()
    try session.vault.ensureReadable(requirement ?? .nothing)
  }
}
