internal import Foundation
internal import Glibc
public import KeychainCredentials
internal import KeychainSecrets
internal import SystemPackage

extension Vault {
  /// Checks the whole vault: that no row was changed, dropped or put back, that both indexes agree,
  /// and that every item opens whose key is at hand.
  ///
  /// - Parameter progress: Is told now and then how far the check has come.
  /// - Returns: What was found; problems are listed, not thrown.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if not even the indexes can be read,
  ///   ``KeychainError/Code/rolledBack``, ``KeychainError/Code/noStore``, or
  ///   ``KeychainError/Code/damaged`` if the file is damaged so far that it cannot be checked.
  public func verify(
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> VerificationReport {
    try existingSession().read(.nothing) { rows, sealing, state throws(KeychainError) in
      var verification = VaultVerification(
        rows: rows, sealing: sealing, state: state, progress: progress)
      return .done(
        try verification.run().report, counter: state.counter, checks: sealing.keys.checks)
    }
  }

  /// Copies the vault into a new file, as it is at one moment, while others may go on using it.
  ///
  /// The vault is verified first, in the transaction that copies it.
  ///
  /// - Parameters:
  ///   - path: Where the copy goes; there must be no file yet. It is made with mode 0600.
  ///   - progress: Is told now and then how far the verification has come.
  /// - Returns: What is in the copy and what opens it.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists`` if there is a file,
  ///   ``KeychainError/Code/damaged`` if the vault is not intact, or
  ///   ``KeychainError/Code/inputOutput``. What was begun of a copy is removed.
  public func backup(
    to path: String, progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> BackupReport {
    let target = try TrustedPath(resolving: path)
    // What lies beside the copy would be believed as a part of it.
    for path in [target.path] + FilesBesideVault(target.path).paths {
      try NewFile.requireAbsent(path)
    }
    return try existingSession().read(.nothing) { rows, sealing, state throws(KeychainError) in
      var verification = VaultVerification(
        rows: rows, sealing: sealing, state: state, progress: progress)
      let verified = try verification.run().report
      try verified.requireIntact()
      let report = try backupReport(of: rows, itemCount: verified.itemCount)
      try Self.copyAll(rows, to: target)
      return .done(report, counter: state.counter, checks: sealing.keys.checks)
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

  private static func copyAll(
    _ rows: any VaultRows, to target: TrustedPath
  ) throws(KeychainError) {
    do throws(Errno) {
      try PrivateFile.makeEmpty(target.path)
    } catch {
      guard error != .fileExists else { throw .isThere(target.path) }
      throw .system(error, "make the backup", target.path)
    }
    do throws(KeychainError) {
      try rows.copyAll(to: target.path)
      try PrivateFile.syncFolder(target.folder)
    } catch {
      for path in [target.path] + FilesBesideVault(target.path).paths { unsafe unlink(path) }
      throw error
    }
  }

  /// Accepts the vault as it lies there, after it was restored from a backup on purpose.
  ///
  /// The state row is made to agree with the rows, and the record of what was seen with the vault.
  ///
  /// - Parameter confirm: Is shown the differences; `false` leaves everything as it is.
  /// - Returns: `false` if there was nothing to accept; `confirm` is not called then.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/cancelled`` if `confirm` says no, or
  ///   ``KeychainError/Code/locked`` if the indexes cannot be read.
  @discardableResult
  public func acceptRestored(
    confirm: (RestoredDifferences) throws(KeychainError) -> Bool
  ) throws(KeychainError) -> Bool {
    let session = try existingSession()
    let head = try session.readHead()
    let keys = try unlocker.keys(.nothing, head, path: session.opened.path, session.deadline)
    let sealing = ItemSealing(keys: keys, device: try unlocker.device.find())
    let differences = try session.opened.storage.read(session.deadline) {
      rows throws(KeychainError) in
      try Self.differences(rows, sealing, session.opened.seen)
    }
    guard differences.exist else { return false }
    let isConfirmed = try session.deadline.excluding { () throws(KeychainError) in
      try confirm(differences)
    }
    guard isConfirmed else {
      throw KeychainError(.cancelled, "the restored vault was not accepted")
    }
    let counter = try StateRow.counter(
      after: max(differences.fileCounter, differences.seenCounter ?? 0))
    try session.opened.storage.write(session.deadline) { rows throws(KeychainError) in
      guard try rows.vaultRow().checks == keys.checks else {
        throw KeychainError(.busy, "the vault got new keys meanwhile", recovery: "try again")
      }
      var state = try Self.restored(rows, sealing).actual
      state.counter = counter
      try rows.putState(try state.sealed(under: keys.open.bytes))
    }
    try session.opened.seenFile.replace(
      by: SeenRecord(checks: [keys.checks.open], counter: counter))
    return true
  }

  /// The state row as it is, empty if it cannot be read, and as the rows ask for it.
  private static func restored(
    _ rows: any VaultRows, _ sealing: ItemSealing
  ) throws(KeychainError) -> (found: StateRow, actual: StateRow) {
    let found: StateRow
    do throws(KeychainError) {
      found = try StateRow.open(rows.stateBox(), under: sealing.keys.open.bytes)
    } catch {
      guard error.code == .damaged else { throw error }
      found = .empty
    }
    var verification = VaultVerification(rows: rows, sealing: sealing, state: found)
    return (found, try verification.run().actual)
  }

  private static func differences(
    _ rows: any VaultRows, _ sealing: ItemSealing, _ seen: SeenRecordFile.Content
  ) throws(KeychainError) -> RestoredDifferences {
    let (state, actual) = try restored(rows, sealing)
    var seenCounter: UInt64?
    var isOther = false
    if case .record(let record) = seen {
      isOther = !record.checks.contains(sealing.keys.checks.open)
      seenCounter = isOther ? nil : record.counter
    }
    return RestoredDifferences(
      fileCounter: actual.counter, seenCounter: seenCounter, isOtherVault: isOther,
      expectedItemCount: Int(clamping: state.itemCount),
      itemCount: Int(clamping: actual.itemCount), isConsistent: state == actual)
  }
}
