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
      return .done(try verification.run().report)
    }
  }

  /// Copies the vault into a new file, as it is at one moment, while others may go on using it.
  ///
  /// The vault is verified first.
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
    let verified = try verify(progress: progress)
    try verified.requireIntact()
    let session = try existingSession()
    let slots = try describe(try session.readHead())
    let counts = try session.opened.storage.read(session.deadline) { rows throws(KeychainError) in
      try rows.itemCounts()
    }
    let target = try TrustedPath(resolving: path).path
    do throws(Errno) {
      let descriptor = try PrivateFile.open(target, .writeOnly, flags: O_CREAT | O_EXCL)
      try? descriptor.close()
    } catch {
      if error == .fileExists {
        throw KeychainError(
          .alreadyExists, "\(path) exists already", recovery: "name a new file")
      }
      throw .system(error, "make the backup", path)
    }
    do throws(KeychainError) {
      try session.opened.storage.backup(to: target, session.deadline)
      try PrivateFile.syncFolder(TrustedPath(resolving: target).folder)
    } catch {
      for suffix in ["", "-journal"] { unsafe unlink(target + suffix) }
      throw error
    }
    return BackupReport(
      itemCount: verified.itemCount,
      deviceItemCount: counts.filter { $0.key.isThisDeviceOnly }.values.reduce(0, +), slots: slots,
      needsThisDevice: !slots.contains { $0.grant == .root && $0.kind != .device })
  }

  /// Accepts the vault as it lies there, after it was restored from a backup on purpose.
  ///
  /// The state row is made to agree with the rows, and the record of what was seen with the vault. The counter
  /// goes on from the greater of the two; from the lesser, where they lie further apart than any use explains.
  ///
  /// - Parameter confirm: Is shown the differences, and the slots that open the vault from then on;
  ///   `false` leaves everything as it is.
  /// - Returns: `false` if there was nothing to accept; `confirm` is not called then.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/cancelled`` if `confirm` says no,
  ///   ``KeychainError/Code/busy`` if the vault changed meanwhile, or
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
      try self.differences(rows, sealing, session.opened.seen)
    }
    guard differences.exist else { return false }
    let isConfirmed = try session.deadline.excluding { () throws(KeychainError) in
      try confirm(differences)
    }
    guard isConfirmed else {
      throw KeychainError(.cancelled, "the restored vault was not accepted")
    }
    let counter = try StateRow.counter(
      acceptingFile: differences.fileCounter, seen: differences.seenCounter)
    let state = try session.opened.storage.write(session.deadline) {
      rows throws(KeychainError) -> SeenState in
      guard try rows.vaultRow().checks == keys.checks,
        try self.differences(rows, sealing, session.opened.seen) == differences
      else { throw KeychainError(.busy, "the vault changed meanwhile", recovery: "try again") }
      var state = try Self.restored(rows, sealing).actual
      state.counter = counter
      let box = try state.sealed(under: keys.open.bytes)
      try rows.putState(box)
      return try SeenState(counter: counter, box: box)
    }
    try session.opened.seenFile.replace(
      by: SeenRecord(checks: [keys.checks.open], state: state),
      lettingGo: session.opened.seen.record)
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

  private func differences(
    _ rows: any VaultRows, _ sealing: ItemSealing, _ seen: SeenRecordFile.Content
  ) throws(KeychainError) -> RestoredDifferences {
    let (state, actual) = try Self.restored(rows, sealing)
    let head = try VaultHead(rows)
    let isOther = seen.record.map { !$0.checks.contains(sealing.keys.checks.open) } ?? false
    let record = isOther ? nil : seen.record
    let found = try SeenState(counter: actual.counter, box: rows.stateBox())
    let relation = record?.relation(of: found) ?? .sameOrNewer
    return RestoredDifferences(
      fileCounter: actual.counter, seenCounter: record?.state.counter, isOtherVault: isOther,
      isFork: relation == .forked,
      isForged: record?.isTooFar(from: found) ?? false,
      expectedItemCount: Int(clamping: state.itemCount),
      itemCount: Int(clamping: actual.itemCount), expectedSlotCount: Int(state.slotCount),
      slots: try describe(head), damagedSlots: head.slots.damaged, isConsistent: state == actual)
  }
}
