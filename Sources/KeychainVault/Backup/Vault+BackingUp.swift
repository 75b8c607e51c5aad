internal import Glibc
public import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

extension Vault {
  /// Copies the vault into a file, as it is at one moment.
  ///
  /// One read transaction verifies and copies the vault. Others can read the vault meanwhile. Their changes
  /// wait for the end of the transaction, and fail with ``KeychainError/Code/busy`` if their deadline passes
  /// before it.
  ///
  /// With `replacing`, an older backup at `path` gives way to the new one in one step: whoever looks, also after
  /// a power loss, finds the older one or the new one, whole. The copy is made under the name of the file with
  /// `.unfinished-backup` after it. Two such calls for one file wait for each other. An older backup counts as
  /// one of the same vault if it has the same keys: not if the vault got new ones after it was made. A copy
  /// that was changed since, so that it counts as many changes as the vault or more, is left alone.
  ///
  /// - Parameters:
  ///   - path: Where the copy goes. It is made with mode 0600.
  ///   - replacing: Whether it may take the place of an older backup of the same vault. If not, or if there
  ///     is none, there must be no file yet.
  ///   - progress: Is told now and then how far the verification has come.
  /// - Returns: What is in the copy and what opens it.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists`` if there is a file,
  ///   ``KeychainError/Code/damaged`` if the vault is not intact, or
  ///   ``KeychainError/Code/inputOutput``. What was begun of a copy is removed. With `replacing`,
  ///   ``KeychainError/Code/refused`` if `path` leads to the vault itself, to a backup of another vault or one that has more changes, to a
  ///   link or to what is no file; ``KeychainError/Code/foreign`` or ``KeychainError/Code/damaged`` if what is
  ///   there is no intact vault; ``KeychainError/Code/timedOut`` if another backup to this file takes longer
  ///   than the deadline.
  @discardableResult
  public func backup(
    to path: String, replacing: Bool = false, progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> BackupReport {
    if replacing { return try replaceBackup(at: path, progress) }
    let target = try translated(TrustedPath(resolving: path))
    // What lies beside the copy would be believed as a part of it.
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
    // Before the vault is read: nobody waits for it while somebody holds the older backup.
    try place.requireReplaceable(by: session.readHead().row.checks)
    let unfinished = try UnfinishedBackup(of: place.path, session.deadline)
    do throws(KeychainError) {
      try unfinished.prepare()
      // While the lock is held, no other such call changes it.
      let older = try place.olderState(session.readHead().row.checks)
      let (report, checks) = try copy(session, progress) {
        rows, sealing, state throws(KeychainError) in
        try place.requireOlder(
          older, than: state, in: rows.stateBox(), under: sealing.keys.open.bytes)
        try rows.copyAll(to: unfinished.path)
      }
      try unfinished.sync()
      try place.put(unfinished, checks, over: older)
      return report
    } catch {
      unfinished.remove()
      throw error
    }
  }

  /// Verifies the vault, and has its rows copied if it is intact.
  private func copy(
    _ session: VaultSession, _ progress: ((VaultProgress) -> Void)?,
    _ make: (any VaultRows, ItemSealing, StateRow) throws(KeychainError) -> Void
  ) throws(KeychainError) -> (report: BackupReport, checks: VaultChecks) {
    try session.read(.nothing) { rows, sealing, state throws(KeychainError) in
      var verification = VaultVerification(
        rows: rows, sealing: sealing, state: state, progress: progress)
      let verified = try verification.run().report
      try verified.requireIntact()
      let report = try backupReport(of: rows, itemCount: verified.itemCount)
      try make(rows, sealing, state)
      return .done((report, try rows.vaultRow().checks))
    }
  }

  private func backupReport(
    of rows: any VaultRows, itemCount: Int
  ) throws(KeychainError) -> BackupReport {
    let slots = try describe(VaultHead(rows))
    let counts = try rows.itemCounts()
    return BackupReport(
      itemCount: itemCount,
      deviceItemCount: counts.filter { $0.key.isThisDeviceOnly }.values.reduce(0, +), slots: slots,
      needsThisDevice: !slots.contains { $0.grant == .root && $0.kind != .device })
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
      for path in [target.path] + FilesBesideVault(target.path).paths { unsafe unlink(path) }
      throw error
    }
  }
}
