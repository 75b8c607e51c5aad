internal import Foundation
public import KeychainCredentials
internal import KeychainSecrets
public import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Accepts the vault as it is now, after it was restored from a backup on purpose.
  ///
  /// Continues the history of the file with a list of members that says so, which other machines then
  /// follow. Of a file whose log is damaged, it keeps what was written before the damage.
  ///
  /// If the list of members is not the one that was seen, somebody who was removed may be in it. The
  /// vault then gets new keys in the same change. The slot that opens it and this device's slot stay,
  /// and others for which `confirmSlot` returns `true`; items that don't open go.
  ///
  /// - Parameters:
  ///   - confirm: Receives the differences, and the slots of the list of members. Return `false` to
  ///     change nothing.
  ///   - confirmSlot: Receives another slot, if the vault gets new keys, and returns whether it still
  ///     opens the vault. Without this closure, none does.
  /// - Returns: `false` if there was nothing to accept; `confirm` is not called then.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/cancelled`` if `confirm` returns
  ///   `false`, ``KeychainError/Code/busy`` if the vault changed meanwhile,
  ///   ``KeychainError/Code/locked`` or ``KeychainError/Code/incorrectSecret`` if the vault cannot be
  ///   opened as far as is needed, ``KeychainError/Code/refused`` if what opens it does not
  ///   administer it and must, or ``KeychainError/Code/damaged`` if its list of members is damaged.
  @discardableResult
  public func acceptRestored(
    confirm: (RestoredDifferences) throws(KeychainError) -> Bool,
    confirmSlot: (VaultSlot) throws(KeychainError) -> Bool = { (_) throws(KeychainError) in false }
  ) throws(KeychainError) -> Bool {
    let session = try existingSession()
    let keys = try unlocker.keys(.nothing, session.opened, session.deadline)
    let found = try RestoredVault(session, keys, isCompared: isCompared)
    guard found.differences.exist else {
      _ = try session.contents(keys)
      return false
    }
    let isConfirmed = try session.deadline.excluding { () throws(KeychainError) in
      try confirm(found.differences)
    }
    guard isConfirmed else {
      throw KeychainError(.cancelled, "the restored vault was not accepted")
    }
    let seen = session.opened.seen.record
    if let followed = found.followed {
      try session.opened.seenFile.replace(by: followed, lettingGo: seen)
      _ = try session.reopened().contents(keys)
      return true
    }
    let admin = try VaultAdministration(session, refuses: false)
    if found.differences.makesNewKeys {
      try acceptWithNewKeys(found, admin, confirmSlot)
    } else {
      try accept(found, admin)
    }
    if found.differences.isOtherVault, let seen { unlocker.lock([seen.id], all: true) }
    return true
  }

  /// Whether a person compared the check of a head, or the identity at hand is pinned to it.
  ///
  /// - Throws: ``KeychainError/Code/rolledBack`` if a person gave another one.
  private func isCompared(_ head: VaultHead) throws(KeychainError) -> Bool {
    let check = try head.check()
    if let given = unlocker.comparedCheck {
      guard given == check else { throw .otherCheck(given, found: check) }
      return true
    }
    return try unlocker.isPinned(to: check)
  }

  /// Continues the file with a list that accepts it, under the same keys.
  private func accept(
    _ found: RestoredVault, _ admin: VaultAdministration
  ) throws(KeychainError) {
    let session = admin.session
    let record = try admin.locked { vault, change throws(KeychainError) -> SeenRecord in
      try found.requireUnchanged(change.contents)
      change.accepting = found.differences.seenSerial ?? 0
      try vault.replaceBase(change.base())
      return try vault.contents.record(admin.keys)
    }
    try session.opened.seenFile.replace(by: record, lettingGo: session.opened.seen.record)
  }

  private func acceptWithNewKeys(
    _ found: RestoredVault, _ admin: VaultAdministration,
    _ confirmSlot: (VaultSlot) throws(KeychainError) -> Bool
  ) throws(KeychainError) {
    let request = RekeyDecision.Request(
      removed: try slotsToRemove(found, admin, confirmSlot), newAdministrationKey: true,
      dropsDamaged: true)
    let rekey = VaultRekey(
      admin: admin,
      floor: (found.differences.seenEpoch ?? 0, found.differences.seenSerial ?? 0))
    _ = try rekey.run { change throws(KeychainError) in
      try found.requireUnchanged(change.contents)
      return try RekeyDecision(change, request)
    }
  }

  private func slotsToRemove(
    _ found: RestoredVault, _ admin: VaultAdministration,
    _ confirmSlot: (VaultSlot) throws(KeychainError) -> Bool
  ) throws(KeychainError) -> Set<UInt32> {
    var removed: Set<UInt32> = []
    for slot in found.differences.slots
    where slot.number != admin.opened.slot.number && slot.isThisDevice != true {
      let isKept = try admin.session.deadline.excluding { () throws(KeychainError) in
        try confirmSlot(slot)
      }
      if !isKept { removed.insert(slot.number) }
    }
    return removed
  }
}
