internal import Foundation
public import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Accepts the vault as it is now, after it was restored from a backup on purpose.
  ///
  /// Corrects the state row to match the rows, and the seen record to match the vault. The counter
  /// continues from the greater of the two, or from the smaller one if they differ by more than is
  /// possible.
  ///
  /// - Parameter confirm: Receives the differences, and the slots that will open the vault. Return
  ///   `false` to change nothing.
  /// - Returns: `false` if there was nothing to accept; `confirm` is not called then.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/cancelled`` if `confirm` returns
  ///   `false`, ``KeychainError/Code/busy`` if the vault changed meanwhile, or
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
      try compare(rows, sealing, session.opened.seen).differences
    }
    guard differences.exist else {
      // Writes a damaged record again, and reports it.
      try session.recordSight(keys)
      return false
    }
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
      let now = try compare(rows, sealing, session.opened.seen)
      guard try rows.vaultRow().checks == keys.checks, now.differences == differences else {
        throw KeychainError(.busy, "the vault changed meanwhile", recovery: .tryAgain)
      }
      var state = now.actual
      state.counter = counter
      let box = try state.sealed(under: keys.open.bytes)
      try rows.putState(box)
      return try SeenState(counter: counter, box: box)
    }
    try session.opened.seenFile.replace(
      by: SeenRecord(checks: [keys.checks.open], state: state),
      lettingGo: session.opened.seen.record)
    if differences.isOtherVault { unlocker.forgetCachedKeys(of: session.opened.seen.record) }
    return true
  }

  /// Returns the current state row, `nil` if it is damaged, and the state row that would match the
  /// rows.
  private static func restored(
    _ rows: any VaultRows, _ sealing: ItemSealing
  ) throws(KeychainError) -> (found: StateRow?, actual: StateRow) {
    let found: StateRow?
    do throws(KeychainError) {
      found = try StateRow.open(rows.stateBox(), under: sealing.keys.open.bytes)
    } catch {
      guard error.code == .damaged else { throw error }
      found = nil
    }
    var verification = VaultVerification(rows: rows, sealing: sealing, state: found ?? .empty)
    return (found, try verification.run().actual)
  }

  private func compare(
    _ rows: any VaultRows, _ sealing: ItemSealing, _ seen: SeenRecordFile.Content
  ) throws(KeychainError) -> (differences: RestoredDifferences, actual: StateRow) {
    let (state, actual) = try Self.restored(rows, sealing)
    let head = try VaultHead(rows)
    let isOther = seen.record.map { !$0.checks.contains(sealing.keys.checks.open) } ?? false
    let record = isOther ? nil : seen.record
    let found = try SeenState(counter: actual.counter, box: rows.stateBox())
    let differences = RestoredDifferences(
      fileCounter: actual.counter, seenCounter: record?.state.counter, isOtherVault: isOther,
      // If the state row is damaged, only the versions of items show the counter, so this is not a
      // fork.
      isFork: state != nil && record?.relation(of: found) == .forked,
      isForged: record?.isTooFar(from: found) ?? false, isSeenRecordDamaged: seen == .unreadable,
      isStateDamaged: state == nil,
      expectedItemCount: Int(clamping: (state ?? .empty).itemCount),
      itemCount: Int(clamping: actual.itemCount),
      expectedSlotCount: Int((state ?? .empty).slotCount),
      slots: try describe(head), damagedSlots: head.slots.damaged, isConsistent: state == actual)
    return (differences, actual)
  }
}
