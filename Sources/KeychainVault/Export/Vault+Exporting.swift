internal import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

extension Vault {
  /// Writes the credentials into a new file that a passphrase opens, for import into another vault.
  ///
  /// The export verifies the vault and shows its state at one moment. Items that are bound to a
  /// device are left out. Meanwhile other programs can read and change the vault.
  ///
  /// - Parameters:
  ///   - path: The path of the export; there must be no file yet. The file gets mode 0600, and
  ///     appears when it is complete.
  ///   - passphrase: The passphrase of the export, not empty. It is independent of the vault's.
  ///   - queries: What to export: items that match one of these; `nil` for everything.
  ///   - progress: Called from time to time with the progress of the work.
  /// - Returns: What the export contains.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists`` if the file exists,
  ///   ``KeychainError/Code/damaged`` if the vault is not intact, ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/incorrectSecret`` if its items cannot be read,
  ///   ``KeychainError/Code/noStore`` if there is no vault, ``KeychainError/Code/refused`` for an
  ///   empty passphrase, or ``KeychainError/Code/inputOutput``. A partial file is removed.
  @discardableResult
  public func export(
    to path: String, passphrase: borrowing SecretBytes, matching queries: [CredentialQuery]? = nil,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> ExportReport {
    try translated(NewFile.requireAbsent(path))
    let key = try newExportKey(passphrase, queries)
    // It is encrypted, and a memory stick may have no modes.
    let file = try translated(NewFile(path, openTo: PrivateFile.everybody))
    let report = try export(to: file.descriptor, key, queries, progress)
    do throws(FileError) { try file.publish() } catch { throw KeychainError(error) }
    return report
  }

  /// Writes the credentials to a descriptor, such as a pipe, as
  /// ``export(to:passphrase:matching:progress:)`` writes them to a file.
  ///
  /// The export is complete before any of it is written to the descriptor, so a slow reader blocks
  /// nobody.
  ///
  /// - Parameters:
  ///   - descriptor: An open descriptor. It stays open.
  ///   - passphrase: The passphrase of the export, not empty.
  ///   - queries: What to export: items that match one of these; `nil` for everything.
  ///   - progress: Called from time to time with the progress of the work.
  /// - Returns: What the export contains.
  /// - Throws: As ``export(to:passphrase:matching:progress:)``. If writing fails, a part of the
  ///   export may have been written; no import accepts a part.
  @discardableResult
  public func export(
    toFileDescriptor descriptor: Int32, passphrase: borrowing SecretBytes,
    matching queries: [CredentialQuery]? = nil,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> ExportReport {
    let key = try newExportKey(passphrase, queries)
    let spool = try newSpool()
    let report = try export(to: spool.descriptor, key, queries, progress)
    try translated(spool.copy(to: FileDescriptor(rawValue: descriptor)))
    return report
  }

  /// Creates a temporary file for data that does not fit into memory.
  func newSpool() throws(KeychainError) -> SpoolFile {
    let folder = try Locations(environment: configuration.environment).stateFolder()
    return try translated(SpoolFile(in: TrustedPath(resolving: folder).path))
  }

  /// Hashes the passphrase, after checking that there is something to export and that it can be
  /// read.
  private func newExportKey(
    _ passphrase: borrowing SecretBytes, _ queries: [CredentialQuery]?
  ) throws(KeychainError) -> ExportKey {
    guard passphrase.count > 0 else { throw .emptyExportPassphrase }
    try existingSession().requireReadable(itemCounts(matching: queries).requirementOfExport)
    let head = try ExportHead(parameters: passwordHashForNewPassphrase())
    let lock = try unlocker.passwordHashLock(.passphrase, configuration.deadlineOfCall())
    defer { extendLifetime(lock) }
    try PasswordHashPolicy.requireMemory(for: head.parameters)
    return try ExportKey(head, passphrase: passphrase)
  }

  private func export(
    to output: FileDescriptor, _ key: borrowing ExportKey, _ queries: [CredentialQuery]?,
    _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> ExportReport {
    let session = try existingSession()
    let (report, requirement) = try session.read(.nothing) {
      contents, sealing throws(KeychainError)
        -> VaultSession.Attempt<(ExportReport, Accessibility.UnlockRequirement)> in
      let export = try VaultExport(contents, sealing, ExportSelection(queries: queries))
      if let missing = export.missingRequirement { return .again(missing) }
      let report = try export.write(ExportWriter(key, to: output), progress)
      return .done((report, export.requirement))
    }
    if requirement == .unlockedNow { prolong(session) }
    return report
  }
}

/// An export of one state of the vault.
private struct VaultExport {
  private let contents: VaultContents
  private let sealing: ItemSealing
  private let selection: ExportSelection
  private let counts: [Accessibility: Int]

  init(
    _ contents: VaultContents, _ sealing: ItemSealing, _ selection: ExportSelection
  ) throws(KeychainError) {
    self.contents = contents
    self.sealing = sealing
    self.selection = selection
    counts = try selection.counts(contents, sealing)
  }

  var requirement: Accessibility.UnlockRequirement { counts.requirementOfExport }

  /// The requirement that must still be met.
  var missingRequirement: Accessibility.UnlockRequirement? {
    exported.keys.map(\.unlockRequirement).filter { !sealing.keys.satisfies($0) }.max()
  }

  private var exported: [Accessibility: Int] { counts.filter { !$0.key.isThisDeviceOnly } }

  /// Writes everything and verifies the vault, opening each item once for both.
  func write(
    _ writer: ExportWriter, _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> ExportReport {
    let count = exported.values.reduce(0, +)
    let leftOut = counts.values.reduce(0, +) - count
    try writer.begin(itemCount: count, leftOutCount: leftOut)
    var written = 0
    let report = try VaultVerification(contents: contents, sealing: sealing, progress: progress)
      .run { item throws(KeychainError) in
        guard !item.credential.accessibility.isThisDeviceOnly, selection.contains(item.credential)
        else { return }
        try writer.append(item)
        written += 1
      }
    try report.requireIntact()
    guard written == count else {
      throw KeychainError(
        .damaged, "the vault has \(count) items to export, and \(written) were found",
        recovery: .verify)
    }
    try writer.finish()
    return ExportReport(itemCount: count, leftOutCount: leftOut)
  }
}
