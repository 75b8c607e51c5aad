internal import Glibc
public import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

extension Vault {
  /// Copies the vault into a file, as it is at one moment.
  ///
  /// One read transaction verifies and copies the vault. Meanwhile others can read the vault. Their
  /// changes wait until the transaction ends, and fail with ``KeychainError/Code/busy`` if their
  /// deadline passes first.
  ///
  /// With `replacing`, the new backup replaces an older one at `path` in one step: a reader finds
  /// either the older one or all of the new one, even after a power loss. The copy is made in a
  /// file with the added extension `.unfinished-backup`. Two such calls for one file wait for each
  /// other. Only a backup with the same keys is replaced, so not one from before the vault got new
  /// keys. A copy that was changed on its own is not replaced, if it counts at least as many changes
  /// as the vault, or if it was changed during the last 1,000 changes of the vault.
  ///
  /// - Parameters:
  ///   - path: The path of the copy, which gets mode 0600.
  ///   - replacing: Whether to replace an older backup of the same vault. If `false`, or if there
  ///     is none, the file must not exist.
  ///   - progress: Called from time to time with the progress of the verification.
  /// - Returns: What the copy contains and what opens it.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists`` if the file exists,
  ///   ``KeychainError/Code/damaged`` if the vault is not intact, or
  ///   ``KeychainError/Code/inputOutput``. A partial copy is removed. With `replacing`,
  ///   ``KeychainError/Code/refused`` if `path` is the vault itself, a backup of another vault or
  ///   with more changes, a link, or not a regular file; ``KeychainError/Code/foreign`` or
  ///   ``KeychainError/Code/damaged`` if the file there is not an intact vault;
  ///   ``KeychainError/Code/timedOut`` if another backup to this file takes longer than the
  ///   deadline.
  @discardableResult
  public func backup(
    to path: String, replacing: Bool = false, progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> BackupReport {
    if replacing { return try replaceBackup(at: path, progress) }
    let target = try translated(TrustedPath(resolving: path))
    // SQLite would trust files next to the copy as parts of it.
    try BackupPlace.requireAbsent(target.path)
    return try copy(existingSession(), progress) { rows, _, _ throws(KeychainError) in
      try Self.makeCopy(of: rows, at: target)
    }.report
  }

  private func replaceBackup(
    at path: String, _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> BackupReport {
    let session = try existingSession()
    let place = try BackupPlace(
      path, of: session.opened, limitingMemory: configuration.limitsDatabaseMemory,
      session.deadline)
    // Before the vault is read, so that nobody waits for it while another process holds the older
    // backup.
    try place.requireReplaceable(by: session.readHead().row)
    let unfinished = try UnfinishedBackup(of: place.path, session.deadline)
    do throws(KeychainError) {
      try unfinished.prepare()
      // While the lock is held, no other such call changes it.
      let older = try place.olderState(session.readHead().row)
      let (report, head) = try copy(session, progress) {
        rows, sealing, proven throws(KeychainError) in
        try place.requireOlder(
          older, than: proven, in: rows, under: sealing.keys.open)
        try rows.copyAll(to: unfinished.path)
      }
      try unfinished.sync()
      try place.put(unfinished, head, over: older)
      return report
    } catch {
      unfinished.remove()
      throw error
    }
  }

  /// Verifies the vault, and copies its rows if it is intact.
  private func copy(
    _ session: VaultSession, _ progress: ((VaultProgress) -> Void)?,
    _ make: (any VaultRows, ItemSealing, ProvenVault) throws(KeychainError) -> Void
  ) throws(KeychainError) -> (report: BackupReport, head: HeadRow) {
    try session.read(.nothing) { rows, sealing, proven throws(KeychainError) in
      var verification = VaultVerification(
        rows: rows, sealing: sealing, proven: proven, progress: progress)
      let verified = try verification.run().report.withUnlistedSlots()
      try verified.requireIntact()
      let report = try backupReport(
        session, of: rows, proven, itemCount: verified.itemCount)
      try make(rows, sealing, proven)
      return .done((report, proven.head))
    }
  }

  private func backupReport(
    _ session: VaultSession, of rows: any VaultRows, _ proven: ProvenVault, itemCount: Int
  ) throws(KeychainError) -> BackupReport {
    let slots = try describe(
      VaultHead(rows, path: session.opened.path), proven.members)
    let counts = try rows.itemCounts()
    return BackupReport(
      itemCount: itemCount,
      deviceItemCount: counts.filter { $0.key.isThisDeviceOnly }.values.reduce(0, +), slots: slots,
      needsThisDevice: !slots.contains { $0.grant.opensEverything && $0.kind != .device })
  }

  private static func makeCopy(
    of rows: any VaultRows, at target: TrustedPath
  ) throws(KeychainError) {
    do throws(Errno) {
      try PrivateFile.makeEmpty(target.path)
    } catch {
      guard error != .fileExists else {
        throw KeychainError(FileError(.alreadyExists, target.path))
      }
      throw .system(error, "make the backup", target.path)
    }
    do throws(KeychainError) {
      try rows.copyAll(to: target.path)
      try translated(PrivateFile.syncFolder(target.folder))
    } catch {
      for path in [target.path] + SidecarFiles(target.path).paths { unsafe unlink(path) }
      throw error
    }
  }
}
