internal import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

extension Vault {
  /// Writes the credentials into a new file that a passphrase opens, for import into another vault.
  ///
  /// The vault is verified on the way, and everything is of one moment. Items that are bound to a device
  /// stay behind. While it runs, other programs can read the vault, and wait with writing.
  ///
  /// - Parameters:
  ///   - path: Where the export goes; there must be no file yet. It is made with mode 0600, and appears
  ///     when it is complete.
  ///   - passphrase: The passphrase of the export, not empty; it has nothing to do with the vault's.
  ///   - queries: What to export: items that match one of these; `nil` for everything.
  ///   - progress: Is told now and then how far the work has come.
  /// - Returns: What is in the export.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists`` if there is a file,
  ///   ``KeychainError/Code/damaged`` if the vault is not intact, ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/incorrectSecret`` if its items cannot be read, ``KeychainError/Code/noStore`` if
  ///   there is no vault, ``KeychainError/Code/refused`` for an empty passphrase, or
  ///   ``KeychainError/Code/inputOutput``. What was begun is then removed.
  @discardableResult
  public func export(
    to path: String, passphrase: borrowing SecretBytes, matching queries: [CredentialQuery]? = nil,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> ExportReport {
    try translated(NewFile.requireAbsent(path))
    let key = try newExportKey(passphrase, queries)
    let file = try translated(NewFile(path))
    let report = try export(to: file.descriptor, key, queries, progress)
    do throws(FileError) { try file.publish() } catch { throw KeychainError(error) }
    return report
  }

  /// Writes the credentials to a descriptor, such as a pipe, as ``export(to:passphrase:matching:progress:)``
  /// does into a file.
  ///
  /// The export is made before any of it is written there, so that a slow reader holds up nobody.
  ///
  /// - Parameters:
  ///   - descriptor: An open descriptor. It stays open.
  ///   - passphrase: The passphrase of the export, not empty.
  ///   - queries: What to export: items that match one of these; `nil` for everything.
  ///   - progress: Is told now and then how far the work has come.
  /// - Returns: What is in the export.
  /// - Throws: As ``export(to:passphrase:matching:progress:)``. A part of the export may have been written when
  ///   writing it fails; no import takes a part.
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

  /// A file for what must be put down for a moment.
  func newSpool() throws(KeychainError) -> SpoolFile {
    let folder = try Locations(environment: configuration.environment).stateFolder()
    return try translated(SpoolFile(in: TrustedPath(resolving: folder).path))
  }

  /// Hashes the passphrase; first it is made sure that there is something to export, and that it can be
  /// read.
  private func newExportKey(
    _ passphrase: borrowing SecretBytes, _ queries: [CredentialQuery]?
  ) throws(KeychainError) -> ExportKey {
    guard passphrase.count > 0 else { throw .emptyExportPassphrase }
    try existingSession().requireReadable(itemCounts(matching: queries).requirementOfExport)
    let head = try ExportHead(parameters: passwordHashForNewPassphrase())
    let lock = try unlocker.passwordHashLock(.passphrase, Deadline(after: configuration.deadline))
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
      rows, sealing, state throws(KeychainError)
        -> VaultSession.Attempt<(ExportReport, Accessibility.UnlockRequirement)> in
      let export = try VaultExport(
        rows: rows, sealing: sealing, state: state, selection: ExportSelection(queries: queries))
      if let missing = export.missingRequirement { return .again(missing, try VaultHead(rows)) }
      let report = try export.write(ExportWriter(key, to: output), progress)
      return .done((report, export.requirement))
    }
    if requirement == .unlockedNow, let head = knownHead.value { unlocker.touch(head.row.checks) }
    return report
  }
}

/// An export of one state of the vault.
private struct VaultExport {
  let rows: any VaultRows
  let sealing: ItemSealing
  let state: StateRow
  let selection: ExportSelection
  private let counts: [Accessibility: Int]

  init(
    rows: any VaultRows, sealing: ItemSealing, state: StateRow, selection: ExportSelection
  ) throws(KeychainError) {
    self.rows = rows
    self.sealing = sealing
    self.state = state
    self.selection = selection
    counts = try selection.counts(rows, sealing)
  }

  private var exported: [Accessibility: Int] { counts.filter { !$0.key.isThisDeviceOnly } }

  var requirement: Accessibility.UnlockRequirement { counts.requirementOfExport }

  /// What must be unlocked yet.
  var missingRequirement: Accessibility.UnlockRequirement? {
    exported.keys.map(\.requires).filter { !sealing.keys.satisfies($0) }.max()
  }

  /// Writes everything, verifying the vault on the way: each item is opened once for both.
  func write(
    _ writer: ExportWriter, _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> ExportReport {
    let count = exported.values.reduce(0, +)
    let leftOut = counts.values.reduce(0, +) - count
    try writer.begin(itemCount: count, leftOutCount: leftOut)
    var verification = VaultVerification(
      rows: rows, sealing: sealing, state: state, progress: progress)
    var written = 0
    let report = try verification.run { item throws(KeychainError) in
      guard !item.credential.accessibility.isThisDeviceOnly, selection.contains(item.credential)
      else { return }
      try writer.append(item)
      written += 1
    }.report
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

extension VerificationReport {
  /// Fails if there is a problem.
  func requireIntact() throws(KeychainError) {
    guard let problem = problems.first else { return }
    throw KeychainError(
      .damaged, "the vault is not intact: \(problem)",
      recovery:
        "see all problems with \(.verify); a plain copy of the file keeps what there is")
  }
}
